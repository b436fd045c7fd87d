// This file defines globals of the web platform that the language does not have. own contains the host's functions,
// see web.go.
(function (own) {
  'use strict'
  const { ask, begin, setTimeout } = own
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, hasOwn, keys } = Object
  const { fromBase64, fromHex } = Uint8Array
  const viewName = getOwnPropertyDescriptor(getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get

  const define = (object, name, value, enumerable = false) =>
    defineProperty(object, name, { value, enumerable, writable: true, configurable: true })

  // uncopied are the classes whose instances structuredClone refuses.
  const uncopied = [Promise, WeakMap, WeakSet, WeakRef, FinalizationRegistry, SharedArrayBuffer, Symbol, Iterator]

  // publish makes a class global, and copies the members of its base class to it. Its methods check the number of
  // arguments.
  function publish(made) {
    uncopied.push(made)
    const base = getPrototypeOf(made.prototype)
    const inherited = base === Object.prototype ? {} : Object.getOwnPropertyDescriptors(base)
    for (const [name, property] of Object.entries({ ...inherited, ...Object.getOwnPropertyDescriptors(made.prototype) })) {
      const method = property.value
      if (name === 'constructor') continue
      if (typeof method === 'function' && method.length > 0) {
        const checked = function (...args) {
          if (args.length >= method.length) return method.apply(this, args)
          throw new TypeError(`${made.name}.${name} needs ${method.length} arguments, but got ${args.length}`)
        }
        property.value = Object.defineProperties(checked, { name: { value: name }, length: { value: method.length } })
      }
      defineProperty(made.prototype, name, { ...property, enumerable: true })
    }
    const { entries } = made.prototype
    if (entries !== undefined) define(made.prototype, Symbol.iterator, entries)
    tag(made.prototype, made.name)
    define(globalThis, made.name, made)
  }

  const tag = (object, name) => defineProperty(object, Symbol.toStringTag, { value: name, configurable: true })

  // readable adds getters for names to a class. They return the fields of the record that read returns.
  function readable(made, names, read) {
    for (const name of names) defineProperty(made.prototype, name, { get() { return read(this)[name] }, configurable: true })
  }

  // bytesOf returns the bytes of an ArrayBuffer or a view, or undefined for other values.
  function bytesOf(value) {
    if (value instanceof ArrayBuffer) return new Uint8Array(value)
    if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    return undefined
  }

  const isObject = (value) => typeof value === 'object' && value !== null || typeof value === 'function'

  // optionsOf returns a dictionary of options. For undefined and null it is empty.
  function optionsOf(value) {
    if (value === undefined || value === null) return {}
    if (!isObject(value)) throw new TypeError('the options must be an object')
    return value
  }

  // wellFormed converts a value to a text without lone surrogates.
  const wellFormed = (value) => `${value}`.toWellFormed()

  // byteText converts a value to a text, and refuses characters that do not fit into a byte.
  function byteText(value) {
    const text = `${value}`
    if (/[^\0-\xff]/.test(text)) throw new TypeError('a header has characters up to U+00FF only')
    return text
  }

  // Encodings.

  class TextEncoder {
    get encoding() { return 'utf-8' }

    encode(text = '') { return fromBase64(ask('encode', `${text}`)) }

    encodeInto(source, destination) {
      if (!(destination instanceof Uint8Array)) throw new TypeError('encodeInto writes to a Uint8Array')
      const bytes = this.encode(`${source}`.slice(0, destination.length))
      let written = Math.min(bytes.length, destination.length)
      while (written < bytes.length && (bytes[written] & 0xc0) === 0x80) written--
      let read = 0
      for (let i = 0; i < written; i++) if ((bytes[i] & 0xc0) !== 0x80) read += bytes[i] >= 0xf0 ? 2 : 1
      destination.set(bytes.subarray(0, written))
      return { read, written }
    }
  }

  class TextDecoder {
    #is
    #rest = ''
    #hasBegun = false

    constructor(label = 'utf-8', options) {
      const { fatal, ignoreBOM } = optionsOf(options)
      const encoding = label === 'utf-8' ? label : ask('encoding', `${label}`)
      if (encoding === '') throw new RangeError(`TextDecoder knows no encoding ${label}`)
      this.#is = { encoding, fatal: !!fatal, ignoreBOM: !!ignoreBOM }
    }

    decode(input = new Uint8Array(0), options) {
      const { encoding, fatal, ignoreBOM } = this.#is
      const stream = !!optionsOf(options).stream
      const bytes = bytesOf(input)?.toBase64()
      if (bytes === undefined) throw new TypeError('TextDecoder decodes an ArrayBuffer or a view of one')
      if (stream && encoding !== 'utf-8') throw new TypeError(`TextDecoder decodes streams of utf-8 only, not of ${encoding}`)
      const answer = ask('decode', { encoding, fatal, stream, keepBOM: ignoreBOM || this.#hasBegun, rest: this.#rest, bytes })
      this.#rest = answer.rest
      this.#hasBegun = stream && (this.#hasBegun || answer.hasBegun)
      if (!answer.isValid) throw new TypeError(`the bytes are no valid ${encoding}`)
      return answer.text
    }

    static { readable(this, ['encoding', 'fatal', 'ignoreBOM'], (decoder) => decoder.#is) }
  }

  // utf8 decodes UTF-8 that is given in base64.
  const utf8 = (bytes, keepBOM) => ask('decode', { encoding: 'utf-8', keepBOM, bytes }).text

  // URLs.

  const unescaped = (text) => text.replaceAll('+', ' ').replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    try {
      return decodeURIComponent(run)
    } catch {
      return utf8(fromHex(run.replaceAll('%', '')).toBase64(), true)
    }
  })

  const escaped = (text) => encodeURIComponent(text).replaceAll('%20', '+')
    .replace(/[!'()~]/g, (one) => '%' + one.charCodeAt(0).toString(16).toUpperCase())

  const valuesOf = (list, name) => list.filter((pair) => pair[0] === name).map((pair) => pair[1])

  let listOf, fill, watch, put

  // Pairs is a list of names and values, which two functions convert. Each change creates a new list.
  class Pairs {
    #list = []
    #nameOf
    #valueOf
    #show
    #watcher = () => {}

    // show returns the list that iterators return.
    constructor(init, nameOf, valueOf, show = (list) => list) {
      this.#nameOf = nameOf
      this.#valueOf = valueOf
      this.#show = show
      const pair = (name, value) => [nameOf(name), valueOf(value)]
      if (!isObject(init)) throw new TypeError(`${String(init)} is no object and no list of pairs`)
      if (init[Symbol.iterator] === undefined || init[Symbol.iterator] === null) {
        const names = Reflect.ownKeys(init).filter((key) => getOwnPropertyDescriptor(init, key)?.enumerable)
        this.#list = [...new Map(names.map((name) => [wellFormed(name), init[name]]))].map((one) => pair(...one))
        return
      }
      this.#list = Array.from(init, (one) => {
        const both = isObject(one) && typeof one[Symbol.iterator] === 'function' ? Array.from(one) : []
        if (both.length !== 2) throw new TypeError('each pair must be a list of a name and a value')
        return pair(...both)
      })
    }

    // #put replaces the list, unless the watcher throws.
    #put(list) {
      this.#watcher(list)
      this.#list = list
    }

    // #is returns a function that matches the pairs with a name, and with a value if one is given.
    #is(name, value) {
      const [key, only] = [this.#nameOf(name), value === undefined ? value : this.#valueOf(value)]
      return (pair) => pair[0] === key && (only === undefined || pair[1] === only)
    }

    append(name, value) { this.#put(this.#list.concat([[this.#nameOf(name), this.#valueOf(value)]])) }

    delete(name, value = undefined) {
      const is = this.#is(name, value)
      this.#put(this.#list.filter((pair) => !is(pair)))
    }

    get(name) { return this.#list.find(this.#is(name))?.[1] ?? null }
    has(name, value = undefined) { return this.#list.some(this.#is(name, value)) }

    set(name, value) {
      const [is, pair] = [this.#is(name), [this.#nameOf(name), this.#valueOf(value)]]
      const first = this.#list.findIndex(is)
      this.#put(first < 0 ? [...this.#list, pair] : this.#list.flatMap((one, i) => i === first ? [pair] : is(one) ? [] : [one]))
    }

    forEach(visit, self = undefined) {
      if (typeof visit !== 'function') throw new TypeError('forEach needs a function')
      for (const [name, value] of this) visit.call(self, value, name, this)
    }

    * entries() {
      for (let i = 0, list, shown; ; i++) {
        if (list !== this.#list) shown = this.#show(list = this.#list)
        if (i >= shown.length) return
        yield [...shown[i]]
      }
    }

    * keys() { for (const [name] of this) yield name }
    * values() { for (const [, value] of this) yield value }

    static {
      listOf = (pairs) => pairs.#list
      fill = (pairs, list) => { pairs.#list = list }
      put = (pairs, list) => { pairs.#put(list) }
      watch = (pairs, watcher) => { pairs.#watcher = watcher }
    }
  }

  const parse = (query) => query.split('&').filter((part) => part !== '').map((part) => {
    const at = (part + '=').indexOf('=')
    return [unescaped(part.slice(0, at)), unescaped(part.slice(at + 1))]
  })
  const unparse = (list) => list.map((pair) => pair.map(escaped).join('=')).join('&')

  class URLSearchParams extends Pairs {
    constructor(init = '') {
      super(isObject(init) ? init : [], wellFormed, wellFormed)
      if (!isObject(init)) fill(this, parse(wellFormed(init).replace(/^\?/, '')))
    }

    get size() { return listOf(this).length }
    getAll(name) { return valuesOf(listOf(this), wellFormed(name)) }
    sort() { put(this, listOf(this).toSorted(([a], [b]) => a < b ? -1 : a > b ? 1 : 0)) }
    toString() { return unparse(listOf(this)) }
  }

  const urlNames = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash']

  class URL {
    #parts
    #params

    constructor(url, base = undefined) {
      const text = wellFormed(url)
      this.#parts = ask('url', { url: text, base: base === undefined ? undefined : wellFormed(base) })
      if (this.#parts === null) throw Object.assign(new TypeError(`Invalid URL: ${text.slice(0, 200)}`), { code: 'ERR_INVALID_URL' })
    }

    get searchParams() {
      if (this.#params === undefined) {
        this.#params = new URLSearchParams(this.#parts.search)
        watch(this.#params, (list) => { this.#set('search', unparse(list)) })
      }
      return this.#params
    }

    #set(name, value) { this.#parts = ask('url', { url: this.#parts.href, set: name, to: value }) ?? this.#parts }

    #change(name, value) {
      if (name === 'href') this.#parts = new URL(value).#parts
      else this.#set(name, value)
      if (this.#params !== undefined && (name === 'href' || name === 'search')) fill(this.#params, parse(this.#parts.search.slice(1)))
    }

    toString() { return this.#parts.href }
    toJSON() { return this.#parts.href }

    static canParse(url, base = undefined) { return URL.parse(url, base) !== null }

    static parse(url, base = undefined) {
      try {
        return new URL(url, base)
      } catch (error) {
        if (error.code === 'ERR_INVALID_URL') return null
        throw error
      }
    }

    static {
      for (const name of urlNames) {
        const set = name === 'origin' ? undefined : function (value) { this.#change(name, wellFormed(value)) }
        defineProperty(this.prototype, name, { get() { return this.#parts[name] }, set, configurable: true })
      }
    }
  }

  // Copies.

  const refuseCopy = (value, why = 'cannot be cloned') => { throw new DOMException(`${String(value?.constructor?.name ?? typeof value)} ${why}`, 'DataCloneError') }
  const errors = Object.fromEntries([Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].map((made) => [made.name, made]))

  // copyOf copies a value. seen maps the objects that were already reached to their copies.
  function copyOf(value, seen) {
    if (typeof value === 'symbol' || typeof value === 'function') refuseCopy(value)
    if (typeof value !== 'object' || value === null) return value
    if (seen.has(value)) return seen.get(value)
    const made = emptyCopy(value, seen)
    seen.set(value, made)
    if (value instanceof Map) for (const [key, one] of [...value]) made.set(copyOf(key, seen), copyOf(one, seen))
    else if (value instanceof Set) for (const one of [...value]) made.add(copyOf(one, seen))
    else if (Error.isError(value) && !(value instanceof DOMException)) copyError(value, made, seen)
    else if (made instanceof Array || getPrototypeOf(made) === Object.prototype) {
      for (const key of keys(value)) if (hasOwn(value, key)) define(made, key, copyOf(value[key], seen), true)
    }
    return made
  }

  // emptyCopy copies an object without its contents.
  function emptyCopy(value, seen) {
    if (Array.isArray(value)) return new Array(value.length)
    if (getPrototypeOf(value) === Object.prototype) return {}
    if (value instanceof DOMException) return new DOMException(value.message, value.name)
    if (Error.isError(value)) return new (hasOwn(errors, value.name) ? errors[value.name] : Error)()
    if (value instanceof Map) return new Map()
    if (value instanceof Set) return new Set()
    if (value instanceof Date) return new Date(value.getTime())
    if (value instanceof RegExp) return new RegExp(value.source, value.flags)
    if (value instanceof ArrayBuffer) {
      if (value.detached) refuseCopy(value, 'is detached')
      const copy = value.resizable ? new ArrayBuffer(value.byteLength, { maxByteLength: value.maxByteLength }) : value.slice(0)
      if (value.resizable) new Uint8Array(copy).set(new Uint8Array(value))
      return copy
    }
    if (ArrayBuffer.isView(value)) {
      const made = globalThis[viewName.call(value) ?? 'DataView']
      return new made(copyOf(value.buffer, seen), value.byteOffset, value.length ?? value.byteLength)
    }
    for (const boxed of [Boolean, Number, String, BigInt]) if (value instanceof boxed) return Object(boxed.prototype.valueOf.call(value))
    if (uncopied.some((made) => value instanceof made)) refuseCopy(value)
    return {}
  }

  function copyError(value, made, seen) {
    for (const name of ['stack', 'message', 'cause']) {
      const property = getOwnPropertyDescriptor(value, name)
      if (property === undefined || !hasOwn(property, 'value')) continue
      define(made, name, name === 'cause' ? copyOf(property.value, seen) : `${property.value}`)
    }
  }

  define(globalThis, 'structuredClone', function structuredClone(value, options) {
    if (arguments.length === 0) throw new TypeError('structuredClone needs a value')
    const moved = Array.from(optionsOf(options).transfer ?? [])
    for (const one of moved) if (!(one instanceof ArrayBuffer)) refuseCopy(one, 'cannot be transferred: only an ArrayBuffer can')
    if (moved.some((one) => one.detached) || new Set(moved).size < moved.length) refuseCopy(moved[0], 'was transferred before')
    const made = copyOf(value, new Map())
    for (const one of moved) one.transfer(0)
    return made
  })

  // Random values. There is no crypto.subtle.

  const crypto = {
    getRandomValues(array) {
      const name = ArrayBuffer.isView(array) ? viewName.call(array) : ''
      if (!ArrayBuffer.isView(array)) throw new TypeError('getRandomValues fills a typed array')
      if (name === undefined || name.startsWith('Float')) throw new DOMException('getRandomValues fills arrays of integers', 'TypeMismatchError')
      if (array.byteLength > 65536) throw new DOMException('getRandomValues fills at most 65536 bytes', 'QuotaExceededError')
      bytesOf(array).set(fromBase64(ask('random', array.byteLength)))
      return array
    },
    randomUUID() {
      const bytes = fromBase64(ask('random', 16))
      bytes[6] = bytes[6] & 0x0f | 0x40
      bytes[8] = bytes[8] & 0x3f | 0x80
      return bytes.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    },
  }
  tag(crypto, 'Crypto')
  define(globalThis, 'crypto', crypto)

  // Signals.

  let abort, follow
  const key = Symbol('of the constructor')
  const newSignal = () => new AbortSignal(key)

  class AbortSignal {
    #aborted = false
    #reason = undefined
    #onabort
    #listeners = []
    #sources = []
    #dependents = []

    constructor(given) { if (given !== key) throw new TypeError('Illegal constructor: use AbortController') }

    get aborted() { return this.#aborted }
    get reason() { return this.#reason }
    get onabort() { return this.#onabort ?? null }
    set onabort(listener) {
      if (this.#onabort === undefined) this.#listeners.push({ listener: (event) => this.#onabort?.call(this, event) })
      this.#onabort = typeof listener === 'function' ? listener : null
    }

    throwIfAborted() { if (this.#aborted) throw this.#reason }

    addEventListener(type, listener, options = undefined) {
      const { once = false, signal } = isObject(options) ? options : {}
      if (`${type}` !== 'abort' || !isObject(listener) || signal?.aborted) return
      if (this.#listeners.some((one) => one.listener === listener)) return
      this.#listeners.push({ listener, once: !!once })
      if (signal) follow(signal, () => { this.removeEventListener(type, listener) })
    }

    removeEventListener(type, listener) {
      if (`${type}` === 'abort') this.#listeners = this.#listeners.filter((one) => one.listener !== listener)
    }

    #fire() {
      const event = { type: 'abort', target: this, currentTarget: this, isTrusted: true, timeStamp: performance.now() }
      tag(event, 'Event')
      for (const one of [...this.#listeners]) {
        if (!this.#listeners.includes(one)) continue
        if (one.once) this.removeEventListener('abort', one.listener)
        try {
          if (typeof one.listener === 'function') one.listener.call(this, event)
          else one.listener.handleEvent(event)
        } catch (error) {
          setTimeout(() => { throw error }, 0)
        }
      }
    }

    static abort(reason = undefined) {
      const signal = newSignal()
      abort(signal, reason)
      return signal
    }

    static timeout(milliseconds) {
      const wait = Math.trunc(+milliseconds)
      if (!(wait >= 0 && wait <= Number.MAX_SAFE_INTEGER)) throw new TypeError('AbortSignal.timeout needs a number of milliseconds')
      const signal = newSignal()
      setTimeout(() => { abort(signal, new DOMException('The operation was aborted due to timeout', 'TimeoutError')) }, wait)
      return signal
    }

    static any(signals) {
      const all = Array.from(signals)
      if (!all.every((one) => one instanceof AbortSignal)) throw new TypeError('AbortSignal.any needs a list of signals')
      const made = newSignal()
      const aborted = all.find((one) => one.#aborted)
      if (aborted !== undefined) {
        abort(made, aborted.#reason)
        return made
      }
      made.#sources = [...new Set(all.flatMap((one) => one.#sources.length > 0 ? one.#sources : [one]))]
      for (const one of made.#sources) one.#dependents.push(made)
      return made
    }

    static {
      abort = (signal, reason = new DOMException('This operation was aborted', 'AbortError')) => {
        if (signal.#aborted) return
        const all = [signal, ...signal.#dependents].filter((one) => !one.#aborted)
        for (const one of all) {
          one.#aborted = true
          one.#reason = reason
        }
        for (const one of all) one.#fire()
      }
      // follow calls a function once a signal is aborted. It returns a function that cancels this.
      follow = (signal, call) => {
        const one = { listener: call, once: true }
        signal.#listeners.push(one)
        return () => { signal.#listeners = signal.#listeners.filter((other) => other !== one) }
      }
    }
  }

  class AbortController {
    #signal = newSignal()
    get signal() { return this.#signal }
    abort(reason = undefined) { abort(this.#signal, reason) }
  }

  // Requests and responses.

  const isToken = (text) => /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text)

  function headerName(name) {
    const text = byteText(name)
    if (!isToken(text)) throw new TypeError(`${JSON.stringify(text)} is not the name of a header`)
    return text.toLowerCase()
  }

  function headerValue(value) {
    const text = byteText(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '')
    if (/[\0\n\r]/.test(text)) throw new TypeError(`${JSON.stringify(text)} is no value of a header`)
    return text
  }

  // sorted returns the pairs sorted by name. Values with the same name are joined, except for Set-Cookie.
  const sorted = (list) => [...new Set(list.map((pair) => pair[0]))].sort().flatMap((name) => {
    const values = valuesOf(list, name)
    return name === 'set-cookie' ? values.map((value) => [name, value]) : [[name, values.join(', ')]]
  })

  class Headers extends Pairs {
    constructor(init = []) { super(init, headerName, headerValue, sorted) }

    get(name) { return this.has(name) ? valuesOf(listOf(this), headerName(name)).join(', ') : null }
    getSetCookie() { return valuesOf(listOf(this), 'set-cookie') }
  }

  function lock(headers) {
    watch(headers, () => { throw new TypeError('these headers cannot be changed: make a copy by new Headers') })
    return headers
  }

  // Content is a body in base64.
  class Content { constructor(base64) { this.base64 = base64 } }
  const asContent = (base64) => base64 === null ? null : new Content(base64)

  const refusedBodies = ['Blob', 'File', 'FormData', 'ReadableStream']

  // bodyOf returns a body in base64, or null if there is none, and its content type.
  function bodyOf(value) {
    if (value === undefined || value === null) return [null, null]
    if (value instanceof Content) return [value.base64, null]
    const bytes = bytesOf(value)
    if (bytes !== undefined) return [bytes.toBase64(), null]
    const name = isObject(value) && (value[Symbol.toStringTag] ?? value.constructor?.name)
    if (refusedBodies.includes(name) || value[Symbol.asyncIterator] !== undefined) {
      throw new TypeError(`a ${name || 'stream'} cannot be a body: use a text, an ArrayBuffer or URLSearchParams`)
    }
    const type = value instanceof URLSearchParams ? 'application/x-www-form-urlencoded' : 'text/plain'
    return [ask('encode', `${value}`), type + ';charset=UTF-8']
  }

  let contentOf, lend

  class Body {
    #content
    #isUsed = false

    constructor(content) { this.#content = content }

    get bodyUsed() { return this.#isUsed }
    get body() {
      if (this.#content === null) return null
      throw new TypeError('body is a stream, which scripts do not have: use text, json, arrayBuffer or bytes')
    }

    async text() { return utf8(contentOf(this)) }
    async json() { return JSON.parse(utf8(contentOf(this))) }
    async bytes() { return fromBase64(contentOf(this)) }
    async arrayBuffer() { return fromBase64(contentOf(this)).buffer }
    async blob() { throw new TypeError('scripts have no Blob: use arrayBuffer') }
    async formData() { throw new TypeError('scripts have no FormData: use text') }

    static {
      // lend returns a body without marking it as read.
      lend = (body) => {
        if (body.#isUsed) throw new TypeError('the body was read already')
        return body.#content
      }
      contentOf = (body) => {
        const content = lend(body)
        body.#isUsed = content !== null
        return content ?? ''
      }
    }
  }

  // options are the supported options of requests with their supported values. The first value is the default.
  const options = {
    redirect: ['follow'], credentials: ['same-origin', 'omit'], mode: ['cors'], cache: ['default', 'no-store', 'reload', 'no-cache'],
    integrity: [''], referrer: ['about:client', ''], keepalive: [false, true],
  }

  function methodOf(value) {
    const method = `${value}`
    const upper = method.toUpperCase()
    if (!isToken(method)) throw new TypeError(`${JSON.stringify(method)} is no method`)
    if (['CONNECT', 'TRACE', 'TRACK'].includes(upper)) throw new TypeError(`${upper} is not sent: use a method such as GET or POST`)
    return ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'].includes(upper) ? upper : method
  }

  class Request extends Body {
    #is

    constructor(input, init = undefined) {
      const given = optionsOf(init)
      const from = input instanceof Request ? input : undefined
      const url = new URL(from?.url ?? input)
      if (url.username !== '' || url.password !== '') throw new TypeError('the URL of a request must not have credentials; use the header Authorization')
      const method = methodOf(given.method ?? from?.method ?? 'GET')
      const hasBody = given.body !== undefined && given.body !== null
      const [content, type] = hasBody ? bodyOf(given.body) : [from === undefined ? null : lend(from), null]
      if (content !== null && (method === 'GET' || method === 'HEAD')) throw new TypeError(`a request with method ${method} has no body`)
      super(content)
      this.#is = { method, url: url.href, headers: new Headers(given.headers === undefined ? from?.headers : given.headers) }
      for (const [name, honoured] of Object.entries(options)) {
        const value = given[name] === undefined ? from?.[name] ?? honoured[0] : given[name]
        if (!honoured.includes(value)) throw new TypeError(`${name}: ${JSON.stringify(value)} is not provided: the only values are ${JSON.stringify(honoured)}`)
        this.#is[name] = value
      }
      const signal = given.signal === undefined ? from?.signal : given.signal
      this.#is.signal = AbortSignal.any(signal === undefined || signal === null ? [] : [signal])
      if (type !== null && !this.headers.has('content-type')) this.headers.set('content-type', type)
      if (from !== undefined && !hasBody) contentOf(from)
    }

    clone() { return new Request(this.url, { ...this.#is, body: asContent(lend(this)) }) }

    static { readable(this, ['method', 'url', 'headers', 'signal', ...keys(options)], (request) => request.#is) }
  }

  let newResponse

  class Response extends Body {
    #is

    constructor(body = null, init = undefined) {
      const { status = 200, statusText = '', headers } = optionsOf(init)
      const [content, type] = bodyOf(body)
      super(content)
      const code = status & 0xffff
      if (code < 200 || code > 599) throw new RangeError(`the status is ${code}: it must be between 200 and 599`)
      if (/[^\t\x20-\x7e\x80-\xff]/.test(byteText(statusText))) throw new TypeError('the statusText has characters that it must not have')
      this.#is = { type: 'default', url: '', redirected: false, status: code, statusText: `${statusText}`, headers: new Headers(headers) }
      if (content !== null && [204, 205, 304].includes(code)) throw new TypeError(`a response with status ${code} has no body`)
      if (type !== null && !this.headers.has('content-type')) this.headers.set('content-type', type)
    }

    get ok() { return this.status >= 200 && this.status <= 299 }

    clone() { return newResponse(lend(this), { ...this.#is, headers: new Headers(this.headers) }) }

    static error() { return newResponse(null, { type: 'error', status: 0, statusText: '', headers: lock(new Headers()) }) }

    static json(value, init = undefined) {
      const text = JSON.stringify(value)
      if (text === undefined) throw new TypeError('the value is no JSON')
      const made = new Response(new TextEncoder().encode(text), init)
      if (!made.headers.has('content-type')) made.headers.set('content-type', 'application/json')
      return made
    }

    static redirect(url, status = 302) {
      const location = new URL(url).href
      if (![301, 302, 303, 307, 308].includes(status)) throw new RangeError(`${status} is no status of a redirect`)
      return newResponse(null, { type: 'default', status, statusText: '', headers: lock(new Headers({ location })) })
    }

    static {
      readable(this, ['type', 'url', 'redirected', 'status', 'statusText', 'headers'], (response) => response.#is)
      newResponse = (content, is) => {
        const made = new Response(asContent(content))
        made.#is = { url: '', redirected: false, ...is }
        return made
      }
    }
  }

  define(globalThis, 'fetch', async function fetch(input, init = undefined) {
    const request = new Request(input, init)
    const { signal, method } = request
    signal.throwIfAborted()
    const url = request.url.replace(/#.*/s, '')
    const sent = begin('fetch', { url, method, headers: [...request.headers], body: lend(request) })
    let unfollow
    const aborted = new Promise((_, reject) => {
      unfollow = follow(signal, () => {
        sent.cancel()
        reject(signal.reason)
      })
    })
    const answer = await Promise.race([sent.answer, aborted]).finally(unfollow)
    const isEmpty = method === 'HEAD' || [101, 103, 204, 205, 304].includes(answer.status)
    return newResponse(isEmpty ? null : answer.body, {
      type: 'basic', url: answer.url || url, redirected: (answer.url || url) !== url, status: answer.status, statusText: answer.statusText,
      headers: lock(new Headers(answer.headers)),
    })
  })

  for (const made of [TextEncoder, TextDecoder, URLSearchParams, URL, AbortSignal, AbortController, Headers, Request, Response]) publish(made)
})
