// The parts of the Fetch standard that scripts use, over native.request. It is the body of a
// function (native) that returns what the global scope gets.
'use strict'

class Headers {
  #values = new Map()

  constructor(init) {
    if (init === undefined || init === null) return
    const pairs = init instanceof Headers || Array.isArray(init) ? init : Object.entries(init)
    for (const [name, value] of pairs) this.append(name, value)
  }

  append(name, value) {
    const key = String(name).toLowerCase()
    const before = this.#values.get(key)
    this.#values.set(key, before === undefined ? String(value) : before + ', ' + String(value))
  }

  set(name, value) { this.#values.set(String(name).toLowerCase(), String(value)) }
  get(name) { return this.#values.get(String(name).toLowerCase()) ?? null }
  has(name) { return this.#values.has(String(name).toLowerCase()) }
  delete(name) { this.#values.delete(String(name).toLowerCase()) }
  forEach(visit, self) { for (const [name, value] of this) visit.call(self, value, name, this) }
  keys() { return this.#sorted().map(([name]) => name).values() }
  values() { return this.#sorted().map(([, value]) => value).values() }
  entries() { return this.#sorted().values() }
  [Symbol.iterator]() { return this.entries() }
  #sorted() { return Array.from(this.#values).sort(([a], [b]) => (a < b ? -1 : 1)) }
}

function namedError(name, message) {
  const error = new Error(message)
  error.name = name
  return error
}

class AbortSignal {
  aborted = false
  reason = undefined
  onabort = null
  #listeners = []

  addEventListener(type, listener) { if (type === 'abort') this.#listeners.push(listener) }
  removeEventListener(type, listener) { this.#listeners = this.#listeners.filter((one) => one !== listener) }
  throwIfAborted() { if (this.aborted) throw this.reason }

  static abort(reason) {
    const controller = new AbortController()
    controller.abort(reason)
    return controller.signal
  }

  static timeout(milliseconds) {
    const controller = new AbortController()
    native.setTimeout(() => controller.abort(namedError('TimeoutError', 'no answer within ' + milliseconds + ' ms')), milliseconds)
    return controller.signal
  }

  static any(signals) {
    const controller = new AbortController()
    for (const signal of signals) {
      if (signal.aborted) controller.abort(signal.reason)
      else signal.addEventListener('abort', () => controller.abort(signal.reason))
    }
    return controller.signal
  }

  static {
    native.abort = (signal, reason) => {
      if (signal.aborted) return
      signal.aborted = true
      signal.reason = reason
      const event = { type: 'abort', target: signal }
      if (typeof signal.onabort === 'function') signal.onabort(event)
      for (const listener of signal.#listeners) listener.call(signal, event)
    }
  }
}

const abortSignal = native.abort

class AbortController {
  signal = new AbortSignal()

  abort(reason) {
    abortSignal(this.signal, reason === undefined ? namedError('AbortError', 'the request was aborted') : reason)
  }
}

// textOrBytes is what native.request takes as a body, and typeOf the type that goes with it.
function textOrBytes(body) {
  if (body === undefined || body === null) return undefined
  if (body instanceof ArrayBuffer) return body
  if (ArrayBuffer.isView(body)) return body.buffer.slice(body.byteOffset, body.byteOffset + body.byteLength)
  return String(body)
}

function typeOf(body) {
  if (typeof body === 'string') return 'text/plain;charset=UTF-8'
  if (body instanceof URLSearchParams) return 'application/x-www-form-urlencoded;charset=UTF-8'
  return null
}

class Body {
  #content
  bodyUsed = false

  constructor(content) { this.#content = content }

  #read() {
    if (this.bodyUsed) throw new TypeError('the body was read already')
    this.bodyUsed = true
    return this.#content
  }

  async text() { return native.text(this.#read()) }
  async json() { return JSON.parse(native.text(this.#read())) }
  async arrayBuffer() { return native.bytes(this.#read()) }
  async bytes() { return new Uint8Array(native.bytes(this.#read())) }

  static { native.content = (body) => (#content in body ? body.#content : undefined) }
}

const contentOf = native.content

// normalMethod returns a method as the standard normalises it: "patch" stays as it is.
function normalMethod(method) {
  const upper = method.toUpperCase()
  if (['CONNECT', 'TRACE', 'TRACK'].includes(upper)) throw new TypeError(upper + ' is not sent: use a method such as GET or POST')
  return ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'].includes(upper) ? upper : method
}

class Request extends Body {
  constructor(input, init = {}) {
    const from = input instanceof Request ? input : {}
    const body = init.body ?? contentOf(from)
    super(textOrBytes(body))
    this.url = input instanceof Request ? input.url : String(input)
    this.method = normalMethod(String(init.method ?? from.method ?? 'GET'))
    this.headers = new Headers(init.headers ?? from.headers)
    this.signal = init.signal ?? from.signal ?? null
    if (body !== undefined && body !== null && (this.method === 'GET' || this.method === 'HEAD')) {
      throw new TypeError('a request with method ' + this.method + ' has no body')
    }
    const type = typeOf(body)
    if (type !== null && !this.headers.has('content-type')) this.headers.set('content-type', type)
  }

  clone() { return new Request(this) }
}

class Response extends Body {
  constructor(body, init = {}) {
    super(textOrBytes(body))
    this.status = init.status ?? 200
    this.statusText = init.statusText ?? ''
    this.headers = new Headers(init.headers)
    this.ok = this.status >= 200 && this.status <= 299
    this.url = init.url ?? ''
    this.redirected = false
    this.type = 'basic'
    const type = typeOf(body)
    if (type !== null && !this.headers.has('content-type')) this.headers.set('content-type', type)
  }

  clone() {
    if (this.bodyUsed) throw new TypeError('the body was read already')
    return new Response(contentOf(this), this)
  }

  static json(value, init = {}) {
    const headers = new Headers(init.headers)
    headers.set('content-type', 'application/json')
    return new Response(JSON.stringify(value), { ...init, headers })
  }
}

function fetch(input, init) {
  return new Promise((resolve, reject) => {
    const request = new Request(input, init)
    const signal = request.signal
    if (signal !== null && signal.aborted) {
      reject(signal.reason)
      return
    }
    const sent = native.request(request.url, request.method, Object.fromEntries(request.headers), contentOf(request))
    if (signal !== null) {
      signal.addEventListener('abort', () => {
        sent.cancel()
        reject(signal.reason)
      })
    }
    sent.answer.then(({ status, statusText, headers, content }) => {
      resolve(new Response(content, { status, statusText, headers, url: request.url }))
    }, reject)
  })
}

return { fetch, Headers, Request, Response, AbortController, AbortSignal }
