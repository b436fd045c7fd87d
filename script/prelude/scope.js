// This file adds to the global scope: console, timers, modules and random numbers.
(function (own, host) {
  'use strict'
  const { parse, stringify } = JSON
  const { defineProperty, is } = Object
  const { apply } = Reflect
  const texts = String, Errors = Error, Dates = Date, toNumber = Number, toInteger = parseInt, toFloat = parseFloat
  const define = (name, value) => own.put(globalThis, name, value, false)
  const mapGet = own.method(Map.prototype, 'get'), mapSet = own.method(Map.prototype, 'set'), mapDelete = own.method(Map.prototype, 'delete')
  const slice = own.method(String.prototype, 'slice')

  define('global', globalThis)
  define('process', { env: { NODE_ENV: 'production' } })

  // Random numbers come from the host. A snapshot must not contain any.
  let numbers = []
  own.forgetRandom = () => { numbers = [] }
  const { random } = { random() {
    if (numbers.length === 0) numbers = own.ask('numbers')
    const number = numbers[numbers.length - 1]
    numbers.length--
    return number
  } }
  defineProperty(Math, 'random', { value: random, writable: true, enumerable: false, configurable: true })

  // Timers. The host calls fire when a timer is due.
  const timers = new Map()
  let count = 0
  const set = (called, pause, isEvery, args) => {
    if (typeof called !== 'function') throw new TypeError('the first argument must be a function')
    const id = ++count
    own.ask('timer', [id, +pause || 0, isEvery])
    mapSet(timers, id, { called, isEvery, args })
    return id
  }
  const clear = (id) => { if (mapDelete(timers, +id)) own.ask('clear', +id) }
  define('setTimeout', (called, pause, ...args) => set(called, pause, false, args))
  define('setInterval', (called, pause, ...args) => set(called, pause, true, args))
  define('setImmediate', (called, ...args) => set(called, 0, false, args))
  for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) define(name, (id) => clear(id))
  own.setTimeout = globalThis.setTimeout
  own.fire = (id) => {
    const { called, isEvery, args } = mapGet(timers, id)
    if (!isEvery) mapDelete(timers, id)
    try { apply(called, undefined, args) } catch (error) { own.fail(error) }
  }

  // Modules. The host passes the function of a module to take.
  const loaded = new Map()
  let taken
  own.take = (body) => { taken = body }
  const folderOf = (file) => slice(file, 0, Math.max(0, file.lastIndexOf('/'))) || '.'
  own.require = (folder, name) => {
    const file = own.ask('find', [folder, texts(name)])
    const known = mapGet(loaded, file)
    if (known !== undefined) return known.exports
    const module = { exports: {}, id: file, filename: file, loaded: false }
    mapSet(loaded, file, module)
    const json = own.ask('load', file)
    try {
      if (json !== null) module.exports = parse(json)
      else {
        const body = taken, from = folderOf(file)
        apply(body, module.exports, [module.exports, requireFrom(from), module, file, from])
      }
    } catch (error) {
      mapDelete(loaded, file)
      throw error
    }
    module.loaded = true
    return module.exports
  }
  const requireFrom = (folder) => function require(name) { return own.require(folder, name) }
  define('require', requireFrom(''))

  // Parts that few scripts need are loaded at the first use: the globals of the web platform, and the methods that
  // depend on a language.
  own.part = (name) => {
    own.ask('part', name)
    apply(taken, undefined, [own])
  }
  // load runs a module, or a part as script:name, so that a snapshot contains it.
  own.load = (module) => slice(module, 0, 7) === 'script:' ? own.part(slice(module, 7)) : own.require('', module)
  for (const name of own.web) {
    defineProperty(globalThis, name, {
      get() {
        for (const other of own.web) delete globalThis[other]
        own.part('web')
        return globalThis[name]
      },
      set(value) { define(name, value) }, enumerable: false, configurable: true,
    })
  }
  let hasLocale = false
  for (const prototype of [String, Number, BigInt, Date, Array, Object.getPrototypeOf(Uint8Array)].map((one) => one.prototype)) {
    for (const name of Object.getOwnPropertyNames(prototype).filter((one) => own.localized.includes(one))) {
      const { length } = prototype[name]
      const method = { [name](...args) {
        if (!hasLocale) own.part('locale')
        hasLocale = true
        return apply(prototype[name], this, args)
      } }[name]
      defineProperty(method, 'length', { value: length, configurable: true })
      defineProperty(prototype, name, { value: method, writable: true, enumerable: false, configurable: true })
    }
  }

  // The console writes to the host's log.
  const longest = 8192
  const plainly = () => {
    const above = own.list()
    return function (key, value) {
      if (typeof value === 'bigint') return value + 'n'
      if (typeof value === 'function') return '[function ' + value.name + ']'
      if (typeof value === 'symbol') return texts(value)
      if (typeof value !== 'object' || value === null) return value
      while (above.length > 0 && above[above.length - 1] !== this) above.length--
      for (let i = 0; i < above.length; i++) if (above[i] === value) return '[circular]'
      if (above.length > own.deepest) return '[deeper]'
      above[above.length] = value
      if (Errors.isError(value)) return own.errorText(value)
      if (value instanceof Map || value instanceof Set) return { [value.constructor.name]: [...value] }
      return value
    }
  }
  const shown = (value) => {
    try {
      if (typeof value !== 'object' || value === null) return texts(value)
      return Errors.isError(value) ? own.errorText(value) : stringify(value, plainly()) ?? 'undefined'
    } catch {
      return 'a value that cannot be shown'
    }
  }
  // formats convert a value for a placeholder of console.log, as in Node.js.
  const numberText = (number) => is(number, -0) ? '-0' : texts(number)
  const numeric = (convert) => (value) => {
    if (typeof value === 'bigint') return value + 'n'
    return typeof value === 'symbol' ? 'NaN' : numberText(convert(value))
  }
  const builtIn = [Object, Array, Date, RegExp, Error, Map, Set].map((kind) => kind.prototype.toString)
  const hasOwnText = (value) => {
    for (let i = 0; i < builtIn.length; i++) if (value.toString === builtIn[i]) return false
    return typeof value.toString === 'function'
  }
  const quoted = (value) => typeof value === 'string' ? stringify(value) : shown(value)
  const formats = {
    __proto__: null, d: numeric(toNumber), i: numeric(toInteger), f: numeric(toFloat), o: quoted, O: quoted, c: () => '',
    j: (value) => stringify(value) ?? 'undefined',
    s(value) {
      if (typeof value === 'bigint') return value + 'n'
      if (typeof value === 'number') return numberText(value)
      return typeof value === 'object' && value !== null && hasOwnText(value) ? texts(value) : shown(value)
    },
  }
  const converted = (format, value) => {
    try { return slice(format(value), 0, 4 * longest) } catch { return 'a value that cannot be shown' }
  }
  // formatted replaces the placeholders in the first value. used is the number of values that it took.
  const formatted = (values) => {
    const format = values[0]
    if (typeof format !== 'string' || values.length < 2) return { text: '', used: 0 }
    let text = '', used = 1, from = 0
    for (let i = 0; i < format.length - 1 && i < longest && text.length <= longest; i++) {
      if (format[i] !== '%') continue
      const kind = format[++i], convert = formats[kind]
      if (kind === '%') text += slice(format, from, i)
      else if (convert !== undefined && used < values.length) text += slice(format, from, i - 1) + converted(convert, values[used++])
      else continue
      from = i + 1
    }
    return { text: text + slice(format, from, from + 4 * longest), used }
  }
  const log = (level, values) => {
    let { text, used } = formatted(values)
    for (let i = used; i < values.length && text.length <= longest; i++) text += (i === 0 ? '' : ' ') + converted(shown, values[i])
    host('log\n' + own.json([level, text, slice(texts(new Errors().stack), 0, longest)]))
  }
  const counts = new Map(), began = new Map()
  const since = (label) => label + ': ' + (Dates.now() - (mapGet(began, label) ?? Dates.now())) + ' ms'
  const levels = { debug: 'debug', trace: 'debug', log: 'info', info: 'info', dir: 'info', dirxml: 'info', table: 'info', group: 'info', groupCollapsed: 'info', warn: 'warn', error: 'error' }
  const console = {}
  for (const name of Object.keys(levels)) console[name] = (...values) => log(levels[name], values)
  console.groupEnd = () => {}
  console.assert = (isSo, ...values) => {
    if (isSo) return
    if (typeof values[0] === 'string') values[0] = 'Assertion failed: ' + values[0]
    else values = ['Assertion failed', ...values]
    log('error', values)
  }
  console.count = (label = 'default') => {
    mapSet(counts, label, (mapGet(counts, label) ?? 0) + 1)
    log('info', [label + ': ' + mapGet(counts, label)])
  }
  console.countReset = (label = 'default') => { mapDelete(counts, label) }
  console.time = (label = 'default') => { mapSet(began, label, Dates.now()) }
  console.timeLog = console.timeEnd = (label = 'default', ...values) => log('info', [since(label), ...values])
  define('console', console)
})
