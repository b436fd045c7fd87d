// This file creates `this` of scripts: the records of the run, the values that earlier scripts have left, the
// operations and the helpers. own.names contains their names.
(function (own, host) {
  'use strict'
  const { parse, stringify } = JSON
  const { isArray } = Array
  const { defineProperty, getOwnPropertyDescriptor, getOwnPropertyNames, getPrototypeOf, hasOwn, is, keys } = Object
  const dates = Date.prototype, getTime = own.method(Date.prototype, 'getTime')
  const { apply, get: read } = Reflect, { then } = Promise.prototype
  const resolve = Promise.resolve.bind(Promise), reject = Promise.reject.bind(Promise)
  const setHas = own.method(Set.prototype, 'has'), setAdd = own.method(Set.prototype, 'add'), slice = own.method(String.prototype, 'slice')
  const { records, fixed, operations, helpers } = own.names

  const { list, put } = own
  // missing are the names that were last read and do not exist: a ring, since a script may read many. It has no names that
  // are longer than any operation's.
  const missing = list(), mostMissing = 16, longestName = 100, plain = Object.prototype
  let missed = 0
  // own.missing returns these names, latest first. The script may have called one of them.
  own.missing = () => {
    const names = list()
    for (let i = missed - 1; i >= 0 && i >= missed - mostMissing; i--) names[names.length] = missing[i % mostMissing]
    return names
  }
  const shared = { __proto__: new Proxy(plain, {
    get(_, name, receiver) {
      if (typeof name === 'string' && name.length <= longestName && !(name in plain)) missing[missed++ % mostMissing] = name
      return read(plain, name, receiver)
    },
    getPrototypeOf: () => plain, // So that `this instanceof Object` is true.
  }) }
  const self = { __proto__: shared }

  // hidden are the names that every script has on `this`. They are not left for later scripts.
  const hidden = new Set(['fetch'])
  for (const name of operations) {
    setAdd(hidden, name)
    const begin = 'op\n[' + stringify(name) + ','
    put(shared, name, { [name](params) {
      try { return resolve(call(begin, params)) } catch (error) { return reject(error) }
    } }[name], false)
  }
  for (const name of keys(helpers)) {
    setAdd(hidden, name)
    defineProperty(shared, name, {
      __proto__: null, get: () => own.require('', helpers[name]), set(value) { put(this, name, value, true) }, enumerable: false, configurable: true,
    })
  }
  put(shared, 'fetch', (...args) => fetch(...args), false)

  // Records, and values that earlier scripts have left, are read when a script first uses them. values are the
  // values that were read or written, given are the same values as the host knows them, and sent are their texts.
  // Changes of fixed records have no effect outside the script.
  let values = { __proto__: null }, given = { __proto__: null }, sent = { __proto__: null }
  // texts are the answers from which given values were read, until they change. pristine are unchanged copies of
  // these values.
  const texts = { __proto__: null }, pristine = { __proto__: null }
  // getters are the getters of names that are read at their first use. touched are the names that were read or
  // written. known are the names that the host has and that a script may remove.
  const getters = { __proto__: null }, known = { __proto__: null }, isRecord = { __proto__: null }, isFixed = { __proto__: null }
  let touched = list()
  const lazily = (name) => {
    const request = 'get\n' + stringify(name)
    if (!isRecord[name]) known[name] = true
    getters[name] = () => {
      if (name in values) return values[name]
      const text = host(request)
      if (!isFixed[name]) {
        touched[touched.length] = name
        texts[name] = text
      }
      return values[name] = given[name] = own.answerOf(text)
    }
    defineProperty(self, name, {
      __proto__: null, get: getters[name], set(value) { write(name, value) }, enumerable: true, configurable: !isRecord[name],
    })
  }
  const write = (name, value) => {
    if (!isFixed[name] && !(name in values)) touched[touched.length] = name
    values[name] = value
  }
  for (const name of fixed) isFixed[name] = true
  for (const name of records) {
    isRecord[name] = true
    lazily(name)
  }
  // hasLeft is true once `this` may have values other than the records.
  let hasLeft = false
  const left = (names) => {
    hasLeft = true
    for (let i = 0; i < names.length; i++) if (!hasOwn(self, names[i]) && !known[names[i]]) lazily(names[i])
  }

  // changes returns what the host must store: the names that were removed, and a list of [name, whether the script
  // assigned another object, value]. If the host refuses the call, the removed names become known again.
  let gone = list()
  const changes = () => {
    gone = list()
    const names = getOwnPropertyNames(self)
    if (touched.length === 0 && !hasLeft && names.length === records.length) return '[],[]'
    hasLeft = true
    let text = ''
    for (let i = 0; i < touched.length; i++) {
      const name = touched[i]
      if (isRecord[name] || isLazy(name)) text += change(name, values[name])
    }
    const isThere = { __proto__: null }
    for (let i = 0; i < names.length; i++) {
      const name = names[i]
      if (isRecord[name] || setHas(hidden, name)) continue
      const at = getOwnPropertyDescriptor(self, name)
      if (hasOwn(at, 'value')) text += change(name, at.value)
      else if (at.get !== getters[name]) continue // A getter that the script defined has no effect outside the script.
      isThere[name] = known[name] = true
    }
    for (const name in known) if (!isThere[name]) forget(name)
    return (gone.length === 0 ? '[]' : own.json(gone)) + ',[' + slice(text, 1) + ']'
  }
  const isLazy = (name) => {
    const at = getOwnPropertyDescriptor(self, name)
    return at !== undefined && !hasOwn(at, 'value') && at.get === getters[name]
  }
  const forget = (name) => {
    gone[gone.length] = name
    delete known[name], delete values[name], delete given[name], delete sent[name], delete texts[name], delete pristine[name]
  }
  const change = (name, value) => {
    const isOther = value !== given[name]
    if (!isOther && name in texts) {
      if (isSame(value, pristine[name] ??= own.answerOf(texts[name]))) return ''
      delete texts[name]
    }
    const packed = own.pack(value)
    if (!isOther && packed === sent[name]) return ''
    given[name] = value
    sent[name] = packed
    return ',[' + stringify(name) + ',' + isOther + ',' + packed + ']'
  }

  const timeOf = (value) => { try { return getTime(value) } catch { return undefined } }

  // isSame reports whether a value is the same as before.
  const isSame = (now, before) => {
    if (typeof now !== 'object' || now === null || typeof before !== 'object' || before === null) return is(now, before)
    if (isArray(before)) {
      if (!isArray(now) || now.length !== before.length) return false
      for (let i = 0; i < before.length; i++) if (!isSame(now[i], before[i])) return false
      return true
    }
    if (getPrototypeOf(now) !== getPrototypeOf(before)) return false
    if (getPrototypeOf(before) === dates) return is(timeOf(now), getTime(before))
    const names = keys(now), others = keys(before)
    if (names.length !== others.length) return false
    for (let i = 0; i < names.length; i++) {
      if (names[i] !== others[i] || !isSame(now[names[i]], before[names[i]])) return false
    }
    return true
  }

  // renew applies the changes of an operation to a record or value. It modifies the objects to which the script may
  // have references.
  const renew = (name, value) => {
    sent[name] = undefined
    delete texts[name]
    delete pristine[name]
    given[name] = merged(given[name], value)
    if (isRecord[name] || isLazy(name)) write(name, given[name])
    else if (hasOwn(self, name)) put(self, name, given[name])
  }
  const isObject = (value) => typeof value === 'object' && value !== null
  const merged = (held, value) => {
    if (!isObject(held) || !isObject(value) || isArray(held) !== isArray(value)) return value
    if (isArray(held)) {
      for (let i = 0; i < value.length; i++) put(held, i, merged(held[i], value[i]))
      held.length = value.length
      return held
    }
    if (getPrototypeOf(held) !== getPrototypeOf(value) || getPrototypeOf(value) === dates) return value
    const old = keys(held), fresh = keys(value)
    let isInOrder = old.length === fresh.length
    for (let i = 0; isInOrder && i < fresh.length; i++) isInOrder = old[i] === fresh[i]
    const kept = { __proto__: null }
    if (!isInOrder) {
      for (let i = 0; i < old.length; i++) {
        kept[old[i]] = held[old[i]]
        delete held[old[i]]
      }
    }
    for (let i = 0; i < fresh.length; i++) put(held, fresh[i], merged(isInOrder ? held[fresh[i]] : kept[fresh[i]], value[fresh[i]]))
    return held
  }

  // call calls an operation. The answer is [0, value, specials, renewed, names] or [1, error, 0, renewed, names].
  const call = (begin, params) => {
    let answer = [1]
    try {
      answer = parse(host(begin + own.pack(params) + ',' + changes() + ']'))
    } finally {
      if (answer[0] !== 0) { // The host may not have stored the changes, so the next call sends them again.
        sent = { __proto__: null }
        for (let i = 0; i < gone.length; i++) known[gone[i]] = true
      }
    }
    const renewed = answer[3], names = answer[4]
    for (let i = 0; renewed && i < renewed.length; i++) renew(renewed[i][0], own.unpack(renewed[i][1], renewed[i][2]))
    if (names) left(names)
    if (answer[0] === 0) return own.unpack(answer[1], answer[2])
    throw own.errorOf(answer[1])
  }

  let isDone = false, outcome
  const none = [], outcomes = [(value) => {
    isDone = true
    outcome = value
  }, own.fail]
  own.start = (script, names) => {
    own.forgetRandom()
    if (names !== '') left(parse(names))
    try {
      const result = apply(script, self, none)
      const isPromise = result !== null && typeof result === 'object' && typeof result.then === 'function'
      if (!isPromise) return outcomes[0](result)
      try { put(result, 'constructor', undefined) } catch { /* It is frozen. */ } // With this property, then does not use a constructor of the script.
      try { apply(then, result, outcomes) } catch { apply(then, resolve(result), outcomes) } // Other objects with a method then are not promises.
    } catch (error) {
      own.fail(error)
    }
  }
  // finish returns the result of the run, its changes, and the reports of rejections without a handler. It returns
  // "" if the script has not returned yet.
  own.finish = (want) => {
    if (!isDone) return ''
    try {
      if (outcome !== null && typeof outcome === 'object' && !isArray(outcome) && hasOwn(outcome, 'member')) {
        const { member } = outcome
        if (member !== null && typeof member === 'object') self.member = member
      }
      const result = want === 'value' ? own.pack(outcome) : want === 'truth' ? !!outcome : 'null'
      return '[' + result + ',' + changes() + ',' + own.reports() + ']'
    } catch (error) {
      own.fail(error)
      return ''
    }
  }
})
