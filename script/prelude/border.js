// The border between a script and its host: calls of the host, values as text, and errors. It is the first script of
// an instance: own is what the scripts of this folder share, and host(text) is the one function of the host.
(function (own, host) {
  'use strict'
  const { parse, stringify } = JSON
  const { isArray } = Array
  const { keys, getPrototypeOf, getOwnPropertyDescriptor, is } = Object
  const { apply } = Reflect
  const { isFinite } = Number
  const Dates = Date, Errors = Error, Promises = Promise, texts = String, integers = BigInt, numbers = Number
  const plain = Object.prototype
  // method returns a method of a prototype as a function, which scripts cannot change any more.
  const method = (prototype, name) => Function.prototype.call.bind(prototype[name])
  const mapGet = method(Map.prototype, 'get'), mapSet = method(Map.prototype, 'set'), mapDelete = method(Map.prototype, 'delete')
  const weakGet = method(WeakMap.prototype, 'get'), weakSet = method(WeakMap.prototype, 'set')
  own.method = method

  // Errors. Those of the host have a number, by which it knows them again.

  const known = new WeakMap()
  own.errorOf = ({ message, code, field, operation, number, result }) => {
    const error = new Errors(message)
    error.code = code
    error.field = field
    error.operation = operation
    if (result) error.result = unpack(result[0], result[1])
    weakSet(known, error, number)
    return error
  }

  // report is what the host is told of a value that was thrown.
  own.report = (thrown) => {
    const told = { text: 'a value that cannot be made a text', stack: '', number: 0 }
    try {
      const isObject = typeof thrown === 'object' && thrown !== null
      if (isObject) told.number = weakGet(known, thrown) ?? 0
      if (isObject && typeof thrown.stack === 'string') told.stack = thrown.stack
      told.isError = isObject && Errors.isError(thrown)
      told.text = texts(thrown)
      if (told.text === '[object Object]') told.text = stringify(thrown) ?? told.text
    } catch { /* What throws when it is read has no text. */ }
    return stringify(told)
  }
  own.fail = (thrown) => { host('fail\n' + own.report(thrown)) }

  // Calls of the host. An answer is [0, value, specials] or [1, error].

  const answerOf = (text) => {
    const answer = parse(text)
    if (answer[0] === 1) throw own.errorOf(answer[1])
    return unpack(answer[1], answer[2])
  }
  own.answerOf = answerOf
  own.ask = (name, value) => answerOf(host(name + '\n' + (stringify(value) ?? 'null')))

  // begin begins what takes time. The host answers by wake.
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
      error.stack = stack // It arose where the script began it.
      reject(error)
    }
  }

  // Values of the host are JSON, beside which specials lists what JSON has no word for: [path, kind, data].

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
        if (path[last] === '__proto__') Object.defineProperty(at, '__proto__', { value: made[kind](data), writable: true, enumerable: true, configurable: true })
        else at[path[last]] = made[kind](data)
      }
    }
    return value
  }
  own.unpack = unpack

  // Values of scripts are JSON with five words more: D1 is a date, I1 a BigInt, R["a","i"] a regular expression, U
  // undefined, X"why" what the host has no value for. NaN and Infinity stand for themselves.

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
  // packed is what a method of a kind makes of a value, undefined if the value is of another kind.
  const tried = (call, value) => { try { return call(value) } catch { return undefined } }
  const special = (value, above) => {
    const time = tried(getTime, value)
    if (time !== undefined) return is(time, NaN) ? refused('is an invalid date') : 'D' + time
    const source = tried((pattern) => apply(sourceOf, pattern, []), value)
    if (source !== undefined) return 'R' + stringify([source, texts(value.flags)])
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
  // quoted has the JSON of keys: the same few come again and again.
  const quoted = { __proto__: null }
  let quotes = 0
  const quote = (name) => {
    if (name.length > 64 || ++quotes > 256) return stringify(name)
    return quoted[name] = stringify(name)
  }
  // ordered returns the keys in the order that the object had in the host: the engine puts integers first.
  const ordered = (value) => {
    const names = keys(value), order = hasOrders ? weakGet(orders, value) : undefined
    if (order === undefined) return names
    const rest = new Set(names), result = []
    for (const name of order) if (rest.delete(name)) result[result.length] = name
    for (const name of rest) result[result.length] = name
    return result
  }
  own.pack = (value) => {
    left = own.largest
    try {
      return pack(value, [])
    } catch (error) {
      if (error === tooLarge) return 'L'
      throw error
    }
  }

  // Promises that were rejected, and that nothing waits for.

  const rejected = new Map()
  own.rejected = (promise, reason) => { mapSet(rejected, promise, reason) }
  own.handled = (promise) => { mapDelete(rejected, promise) }
  own.reports = () => {
    if (rejected.size === 0) return '[]'
    const all = []
    for (const reason of rejected.values()) all[all.length] = parse(own.report(reason))
    rejected.clear()
    return stringify(all)
  }
})
