// This file is the border between a script and its host: calls of the host, values as text, and errors. It runs
// first in each instance. The files of this folder share the object own. host(text) is the only function of the
// host.
(function (own, host) {
  'use strict'
  const { parse, stringify } = JSON
  const { isArray } = Array
  const { defineProperty, keys, getPrototypeOf, setPrototypeOf, getOwnPropertyDescriptor, is } = Object
  const { apply } = Reflect
  const { isFinite } = Number
  const Dates = Date, Errors = Error, Promises = Promise, texts = String, integers = BigInt, numbers = Number
  const plain = Object.prototype
  // method returns a method of a prototype as a function. Scripts cannot change this function later.
  const method = (prototype, name) => Function.prototype.call.bind(prototype[name])
  const mapGet = method(Map.prototype, 'get'), mapSet = method(Map.prototype, 'set'), mapDelete = method(Map.prototype, 'delete')
  const weakGet = method(WeakMap.prototype, 'get'), weakSet = method(WeakMap.prototype, 'set')
  const mapForEach = method(Map.prototype, 'forEach'), mapClear = method(Map.prototype, 'clear'), slice = method(String.prototype, 'slice')
  own.method = method

  // Scripts may change every prototype, even Object.prototype. So the prelude calls no methods of values, reads and
  // sets only existing properties, adds none by assignment, and does not use iterators.

  // list returns an empty array without a prototype, to which items can safely be assigned.
  const list = () => setPrototypeOf([], null)
  own.list = list
  const put = (object, name, value, enumerable = true) =>
    defineProperty(object, name, { __proto__: null, value, writable: true, enumerable, configurable: true })
  own.put = put
  // json works like JSON.stringify without toJSON, for values of the prelude.
  const json = (value) => {
    if (typeof value !== 'object' || value === null) return stringify(value) ?? 'null'
    let text = ''
    if (isArray(value)) {
      for (let i = 0; i < value.length; i++) text += (i === 0 ? '' : ',') + json(value[i])
      return '[' + text + ']'
    }
    const names = keys(value)
    for (let i = 0; i < names.length; i++) text += (i === 0 ? '' : ',') + stringify(names[i]) + ':' + json(value[names[i]])
    return '{' + text + '}'
  }
  own.json = json

  // With prepareStackTrace, scripts could get the prelude's functions from the frames of a stack.
  delete Errors.prepareStackTrace

  // Errors. The host gives each of its errors a number, by which it recognises the error later.

  const known = new WeakMap()
  own.errorOf = (told) => {
    const { message, code, field, operation, number, result } = { __proto__: null, ...told }
    const error = new Errors(message)
    put(error, 'code', code)
    put(error, 'field', field)
    put(error, 'operation', operation)
    if (result) put(error, 'result', unpack(result[0], result[1]))
    weakSet(known, error, number)
    return error
  }

  // errorText returns an error as text, with the errors that caused it.
  const mostCauses = 5
  const errorText = (error) => {
    let text = texts(error)
    try {
      for (let i = 0; i < mostCauses && Errors.isError(error) && error.cause !== undefined; i++) {
        error = error.cause
        text += ', caused by ' + texts(error)
      }
    } catch { /* A cause that throws when it is read has no text. */ }
    return text
  }
  own.errorText = errorText

  // report describes a thrown value to the host.
  const longestText = 8192, longestStack = 65536
  const report = (thrown) => {
    const told = { __proto__: null, text: 'a value that cannot be converted to text', stack: '', number: 0, isError: false, missing: null }
    try {
      const isObject = typeof thrown === 'object' && thrown !== null
      if (isObject) told.number = weakGet(known, thrown) ?? 0
      if (isObject && typeof thrown.stack === 'string') told.stack = slice(texts(thrown.stack), 0, longestStack)
      told.isError = isObject && Errors.isError(thrown)
      told.text = told.isError ? errorText(thrown) : texts(thrown)
      if (told.text === 'TypeError: not a function') told.missing = own.missing()
      if (told.text === '[object Object]') told.text = stringify(thrown) ?? told.text
      told.text = slice(told.text, 0, longestText)
    } catch { /* A value that throws when it is read has no text. */ }
    return json(told)
  }
  own.fail = (thrown) => { host('fail\n' + report(thrown)) }

  // Calls of the host. An answer is [0, value, specials] or [1, error].

  const answerOf = (text) => {
    const answer = parse(text)
    if (answer[0] === 1) throw own.errorOf(answer[1])
    return unpack(answer[1], answer[2])
  }
  own.answerOf = answerOf
  own.ask = (name, value) => answerOf(host(name + '\n' + json(value)))

  // begin starts an operation of the host that takes time. The host calls wake with the answer.
  const waiting = new Map()
  own.begin = (name, value) => {
    const { stack } = new Errors()
    const id = own.ask(name, value)
    const answer = new Promises((resolve, reject) => mapSet(waiting, id, { resolve, reject, stack }))
    return { answer, cancel() { own.ask('cancel', id) } }
  }
  own.wake = (id, text) => {
    const { resolve, reject, stack } = mapGet(waiting, id)
    mapDelete(waiting, id)
    try { resolve(answerOf(text)) } catch (error) {
      put(error, 'stack', stack, false) // The stack of the place where the script called begin.
      reject(error)
    }
  }

  // Values from the host are JSON. specials lists the values that JSON cannot represent, as [path, kind, data].

  const orders = new WeakMap()
  let hasOrders = false
  const made = {
    __proto__: null, date: (data) => new Dates(data), integer: (data) => integers(data), number: (data) => numbers(data),
    missing: () => undefined,
  }
  const unpack = (value, specials) => {
    for (let i = 0; specials && i < specials.length; i++) {
      const path = specials[i][0], kind = specials[i][1], data = specials[i][2], last = path.length - 1
      if (kind === 'order') {
        let at = value
        for (let j = 0; j <= last; j++) at = at[path[j]]
        weakSet(orders, at, data)
        hasOrders = true
      } else if (last < 0) {
        return made[kind](data)
      } else {
        let at = value
        for (let j = 0; j < last; j++) at = at[path[j]]
        put(at, path[last], made[kind](data))
      }
    }
    return value
  }
  own.unpack = unpack

  // Values from scripts are JSON with five additional forms: D1 is a date, I1 a BigInt, R["a","i"] a regular
  // expression, U undefined, and X"why" a value that the host cannot represent. NaN and Infinity are written as they
  // are.

  const getTime = method(Date.prototype, 'getTime')
  const sourceOf = getOwnPropertyDescriptor(RegExp.prototype, 'source').get
  const unwrap = [Number, String, Boolean].map((kind) => method(kind.prototype, 'valueOf'))
  const refused = (why) => 'X' + stringify(why)
  const tooDeep = refused('is nested too deep, or contains itself')
  let left = 0
  const tooLarge = {}
  const spend = (text) => {
    if ((left -= text.length) < 0) throw tooLarge
    return text
  }
  // tried returns the result of call(value), or undefined if the call throws because the value is of another kind.
  const tried = (call, value) => { try { return call(value) } catch { return undefined } }
  const special = (value, above) => {
    const time = tried(getTime, value)
    if (time !== undefined) return is(time, NaN) ? refused('is an invalid date') : 'D' + time
    const source = tried((pattern) => apply(sourceOf, pattern, []), value)
    if (source !== undefined) return spend('R[' + stringify(source) + ',' + stringify(texts(value.flags)) + ']')
    for (let i = 0; i < unwrap.length; i++) {
      const inside = tried(unwrap[i], value)
      if (inside !== undefined) return pack(inside, above)
    }
    if (typeof value.then === 'function') return refused('is a promise: await it')
    const name = tried((one) => texts(one.constructor.name), value) || 'a class'
    return refused('is an instance of ' + name + ': make a plain object of it')
  }
  const pack = (value, above) => {
    switch (typeof value) {
      case 'string': return spend(stringify(value))
      case 'number': return spend(is(value, -0) ? '-0' : '' + value)
      case 'boolean': return value ? 'true' : 'false'
      case 'undefined': return 'U'
      case 'bigint': return spend('I' + value)
      case 'function': return refused('is a function')
      case 'symbol': return refused('is a symbol')
    }
    if (value === null) return 'null'
    if (above.length > own.deepest) return tooDeep
    for (let i = above.length - 1; i >= 0; i--) if (above[i] === value) return tooDeep
    const within = above.length
    above[within] = value
    let text
    if (isArray(value)) text = items(value, above)
    else {
      const prototype = getPrototypeOf(value)
      const isPlain = prototype === plain || prototype === null
      if (isPlain && typeof value.toJSON !== 'function') text = fields(value, above)
      else if (tried(getTime, value) === undefined && typeof value.toJSON === 'function') text = pack(value.toJSON(''), above)
      else text = special(value, above)
    }
    above.length = within
    return text
  }
  const items = (value, above) => {
    const { length } = value
    let text = '['
    for (let i = 0; i < length; i++) text += (i === 0 ? '' : spend(',')) + pack(value[i], above)
    return text + ']'
  }
  const fields = (value, above) => {
    const names = ordered(value)
    let text = '{'
    for (let i = 0; i < names.length; i++) {
      text += (i === 0 ? '' : ',') + spend(quoted[names[i]] ?? quote(names[i])) + ':' + pack(value[names[i]], above)
    }
    return text + '}'
  }
  // quoted caches the JSON of keys, because the same keys are frequent.
  const quoted = { __proto__: null }
  let quotes = 0
  const quote = (name) => {
    if (name.length > 64 || ++quotes > 256) return stringify(name)
    return quoted[name] = stringify(name)
  }
  // ordered returns the keys in the order of the host's object, because the engine moves integer keys to the front.
  const ordered = (value) => {
    const names = keys(value), order = hasOrders ? weakGet(orders, value) : undefined
    if (order === undefined) return names
    const rest = { __proto__: null }, result = list()
    const take = (name) => {
      if (rest[name] !== true) return
      rest[name] = false
      result[result.length] = name
    }
    for (let i = 0; i < names.length; i++) rest[names[i]] = true
    for (let i = 0; i < order.length; i++) take(order[i])
    for (let i = 0; i < names.length; i++) take(names[i])
    return result
  }
  own.pack = (value) => {
    const before = left // pack may call a getter of the value, and the getter may call this function again.
    left = own.largest
    try {
      return pack(value, list())
    } catch (error) {
      if (error === tooLarge) return 'L'
      throw error
    } finally {
      left = before
    }
  }

  // Rejected promises without a handler. The host gets reports of up to mostReports of them.

  const rejected = new Map(), mostReports = 20
  own.rejected = (promise, reason) => { mapSet(rejected, promise, reason) }
  own.handled = (promise) => { mapDelete(rejected, promise) }
  own.reports = () => {
    let text = '', count = 0
    mapForEach(rejected, (reason) => { if (++count <= mostReports) text += (count === 1 ? '' : ',') + report(reason) })
    mapClear(rejected)
    return '[' + text + ']'
  }
})
