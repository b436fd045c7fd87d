// The cases that must have the same results in the engine and in Node.js. Each case is a function in a group. The
// file is an expression: the list of all [group, function].
(() => {
  const cases = []
  const group = (name, ...functions) => { for (const one of functions) cases.push([name, one]) }
  const names = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash']
  const parts = (url) => names.map((name) => url[name])

  for (const [url, base] of [
    ['https://example.com'], ['HTTP://User:Pa%73s@EXAMPLE.com:80/a/./b/../c%7e?q=1&r#h'], ['https://example.com:443/'],
    ['https://example.com:8443'], ['//host/path', 'https://a/b'], ['/p?q#h', 'https://a:81/b/c'], ['?x', 'http://a/b/c?d#e'],
    ['#x', 'http://a/b/c?d#e'], ['', 'http://a/b/c?d#e'], ['../../../d', 'http://a/b/c'], ['./%2e%2E/x', 'http://a/b/c/'],
    ['http:a', 'http://x/y/z'], ['http:a', 'https://x/y/z'], ['https:\\\\a\\b\\c'], ['  https://a/ b \n'], ['ht\ntps://a/\tb'],
    ['http://a b/'], ['http://a%20b/'], ['http://a<b'], ['http://[::1]/'], ['http://[::FFFF:1.2.3.4]:8080/'], ['http://[1::2::3]/'],
    ['http://[::1'], ['http://0x7f.1/'], ['http://0300.0250.01'], ['http://256.1.1.1/'], ['http://1.2.3.4.5/'], ['http://4294967295'],
    ['http://4294967296'], ['http://1e2/'], ['http://1.2.3.08'], ['http://foo.0x4/'], ['http://münchen.de/straße?ü#ß'], ['http://faß.de'],
    ['http://xn--mnchen-3ya.de/'], ['http://xn--a/'], ['http://日本語。jp/'], ['http://％４１.com'], ['http://a\u00adb.com/'],
    ['http://😀.com/😀?😀#😀'], ['file:///C|/x/../..'], ['file:c:\\foo\\bar'], ['/c:/x', 'file:///d:/y'], ['..', 'file:///C:/'],
    ['file://localhost/etc'], ['file://host/a'], ['mailto:a@b.c?subject=x y'], ['data:text/plain,a b#c d'], ['javascript:alert("x")'],
    ['blob:https://a:8443/x'], ['blob:file:///a'], ['ftp://f:21/'], ['ws://h:80/c'], ['wss://h:444'], ['x://H/P?Q#F'], ['x://'], ['x:///a//b'],
    ['x:/a/../..//b'], ['x:a b\u0000c'], ['x://a b/'], ['x://ü/'], ['http://'], ['http:///a'], ['http://:80'], ['http://a:'], ['http://a:99999'],
    ['http://a:1x'], ['http://@/x'], ['http://u@'], ['http://u:p@h:1/'], ['http://a@b@c/'], ['http://u:p:q@h'], ["http://a/'\"<>`{}|^?'\"<>`{}|^#'\"<>`{}|^"],
    ['http://a/%zz%4'], ['http://a?a=%F0%9F'], ['noscheme'], ['1:x'], ['://x'], ['a', 'mailto:b'], ['#a', 'mailto:b'], ['x', 'nobase'], ['x', ''],
    ['http://a/\ud800?\udc00#\ud800x'], ['http://a..b/'], ['http://.../'], ['http://a_b-.c/'], ['http://-a-.b/'],
  ]) group('URL ' + JSON.stringify([url, base]), () => parts(new URL(url, base)))

  for (const [url, name, value] of [
    ['https://a/b', 'protocol', 'http'], ['https://a:443/b', 'protocol', 'http:x'], ['https://a/b', 'protocol', 'x'], ['x://a', 'protocol', 'http'],
    ['https://a/', 'username', 'ü:@/'], ['https://u:p@a/', 'password', ''], ['mailto:x', 'username', 'u'], ['file:///a', 'password', 'p'],
    ['https://a:1/', 'host', 'b:2'], ['https://a:1/', 'host', 'b'], ['https://a/', 'host', ''], ['https://a/', 'host', 'x/y'], ['https://a/', 'host', 'b:x'],
    ['https://a:1/', 'hostname', 'c:9'], ['https://a/', 'hostname', '[::2]'], ['https://a/', 'hostname', 'b c'], ['mailto:x', 'hostname', 'a'],
    ['https://a/', 'port', '81'], ['https://a:81/', 'port', '443'], ['https://a:81/', 'port', ''], ['https://a:81/', 'port', '90x'], ['https://a/', 'port', '65536'],
    ['https://a/b?c', 'pathname', 'x/../y?z#w'], ['https://a/b', 'pathname', ''], ['mailto:x', 'pathname', 'y'], ['file:///C:/a', 'pathname', '/..'],
    ['https://a/?b#c', 'search', ''], ['https://a/#c', 'search', 'x y\'"'], ['https://a/', 'search', '??'], ['x:a', 'search', "'"],
    ['https://a/#b', 'hash', ''], ['https://a/', 'hash', '##<`'], ['https://a/', 'href', 'http://b/?c'], ['https://a/', 'href', 'nope'], ['https://a/', 'href', 'x:y'],
  ]) {
    group(`set ${name} of ${url} to ${JSON.stringify(value)}`, () => {
      const made = new URL(url)
      made[name] = value
      return parts(made)
    })
  }

  group('URL methods',
    () => [URL.canParse('x'), URL.canParse('x', 'https://a'), URL.canParse('https://a'), JSON.stringify({ a: new URL('https://a') }), `${new URL('https://a')}`],
    () => new URL(), () => new URL(Symbol()), () => URL('https://a'), () => { new URL('https://a').origin = 'x' },
    () => Object.keys(Object.getOwnPropertyDescriptors(globalThis.URL.prototype)).filter((name) => names.includes(name)).length,
    () => Object.prototype.toString.call(new URL('https://a')), () => new URL('https://a') instanceof URL,
    () => {
      const url = new URL('https://a/?x=1&y=%20+%2B')
      const params = url.searchParams
      const seen = [params === url.searchParams, [...params]]
      params.append('z', 'ü&=\'~!()*')
      seen.push(url.href)
      url.search = '?new=1&new=2'
      seen.push([...params], params.size)
      params.delete('new', '1')
      seen.push(url.search)
      params.delete('new')
      seen.push(url.href)
      url.href = 'https://b/?c=d#e'
      seen.push(params.get('c'))
      params.set('c', '')
      params.sort()
      return [...seen, url.href]
    },
    () => { const url = new URL('https://a/?b=%7E#x'); url.searchParams.sort(); return url.href })

  group('URLSearchParams',
    ...['', '?a=1', '??a', 'a=1&a=2&b', '&&=&=x&a=b=c&', 'a+b=%20%2B', '%zz=%', '%F0%9F%98%80=%ff%F0', 'a=\ud800', '\ufeffa=%EF%BB%BF', 'a\0=\n', '%E4%BD=%A0']
      .map((text) => () => { const params = new URLSearchParams(text); return [[...params], `${params}`, params.size] }),
    ...[{ a: 1, b: null }, [['a', 'b'], ['a', 'c']], new Map([['x', 'y']]), new URLSearchParams('q=1&q=2'), { '\ud800': 1, '\ufffd': 2 }, [], {}, [new Set(['a', 'b'])]]
      .map((init) => () => [...new URLSearchParams(init)]),
    () => new URLSearchParams([['a']]), () => new URLSearchParams(['ab']), () => new URLSearchParams([['a', 'b', 'c']]), () => new URLSearchParams({ [Symbol('x')]: 1 }),
    () => `${new URLSearchParams(undefined)} ${new URLSearchParams(5)}`, () => URLSearchParams(),
    () => {
      const p = new URLSearchParams('b=1&a=2&b=3&c=4&b=5')
      p.set('b', 9)
      p.append('c', undefined)
      return [p.get('b'), p.getAll('c'), p.get('no'), p.has('c'), p.has('c', '4'), p.has('c', 'no'), p.has('c', undefined), `${p}`, [...p.keys()], [...p.values()]]
    },
    () => { const p = new URLSearchParams('\ud83d\ude00=1&\uffff=2&z=3&a=4&z=5&\ue000=6'); p.sort(); return [...p] },
    () => { const p = new URLSearchParams('a=1&b=2&c=3'); const seen = []; for (const [k] of p) { seen.push(k); p.delete(k) } return [seen, `${p}`] },
    () => { const seen = []; new URLSearchParams('a=1&b=2').forEach(function (v, k, p) { seen.push(v, k, p.size, this.x) }, { x: 1 }); return seen },
    () => new URLSearchParams().get(), () => new URLSearchParams().append('a'), () => new URLSearchParams().forEach(1), () => new URLSearchParams().set('a'),
    () => URLSearchParams.prototype[Symbol.iterator] === URLSearchParams.prototype.entries, () => [URLSearchParams.prototype.append.length, URLSearchParams.prototype.get.name, URLSearchParams.prototype.has.length],
    () => Object.prototype.toString.call(new URLSearchParams()), () => { const p = new URLSearchParams('a=1&a=2&b=1'); p.delete('a', '2'); p.delete('b', undefined); return `${p}` })

  const bytes = (...list) => Uint8Array.from(list)
  group('TextEncoder',
    ...['', 'a', 'é€😀', '\ud800', 'a\udc00b', '\ud83d\ud83d\ude00', '\0\ufeff'].map((text) => () => [...new TextEncoder().encode(text)]),
    () => [...new TextEncoder().encode()], () => [...new TextEncoder().encode(null)], () => new TextEncoder().encoding,
    ...[0, 1, 2, 3, 4, 5, 6, 7, 9, 12].map((size) => () => { const to = new Uint8Array(size).fill(1); return [new TextEncoder().encodeInto('aé€😀\ud800z', to), [...to]] }),
    () => { const to = new Uint8Array(10); return [new TextEncoder().encodeInto('€', to.subarray(3, 7)), [...to]] }, () => new TextEncoder().encodeInto('a', [1]))
  group('TextDecoder',
    ...['utf8', ' UTF-8\n', 'unicode-1-1-utf-8', 'latin1', 'ascii', 'utf-16', 'utf-16be', 'sjis', 'gbk', 'euc-kr', 'koi8-r', 'windows-1251', 'iso-8859-2', 'big5', 'nope', '', 'utf-7', 'macintosh', 'ibm866']
      .map((label) => () => new TextDecoder(label).encoding),
    ...[[], [97], [0xef, 0xbb, 0xbf, 97], [0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf], [0xff], [0xc0, 0x80], [0xe2, 0x82], [0xe2, 0x82, 97], [0xf0, 0x9f, 0x98, 0x80], [0xf0, 0x9f, 0x98],
      [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xf0, 0x80, 0x80, 0x80], [0x80, 0xbf, 0xc3, 0xa9], [0xe0, 0x9f, 0xbf], [0xf1, 0x80, 0xc3, 0xa9], [0xfe, 0xff], [0xef, 0xbb]]
      .flatMap((list) => [{}, { fatal: true }, { ignoreBOM: true }].map((options) => () => new TextDecoder('utf-8', options).decode(bytes(...list)))),
    () => new TextDecoder().decode(), () => new TextDecoder().decode(bytes(97, 98).buffer), () => new TextDecoder().decode(new DataView(bytes(97, 98, 99).buffer, 1)),
    () => new TextDecoder().decode(new Uint16Array([0x6161])), () => new TextDecoder().decode('a'), () => new TextDecoder().decode([97]),
    () => [new TextDecoder('utf8', { fatal: 1 }).fatal, new TextDecoder('utf8', null).ignoreBOM],
    () => { const d = new TextDecoder(); return [[0xef], [0xbb, 0xbf, 0xe2], [0x82], [0xac, 0xf0, 0x9f], [0x98], [0x80, 0xe2]].map((l) => d.decode(bytes(...l), { stream: true })).concat(d.decode(), d.decode(bytes(0xef, 0xbb, 0xbf, 97))) },
    () => { const d = new TextDecoder('utf8', { fatal: true }); return [d.decode(bytes(0xe2, 0x82), { stream: true }), d.decode(bytes(0xac))] },
    () => { const d = new TextDecoder('utf8', { fatal: true }); d.decode(bytes(0xe2, 0x82), { stream: true }); return d.decode() },
    () => { const d = new TextDecoder(); return [d.decode(bytes(97), { stream: true }), d.decode(bytes(0xef, 0xbb, 0xbf, 98), { stream: true })] },
    ...[['windows-1251', [0xcf, 0xf0, 0xe8]], ['shift_jis', [0x93, 0xfa, 0x96, 0x7b]], ['gb18030', [0xc4, 0xe3, 0x84, 0x31, 0x95, 0x33]], ['euc-jp', [0xc6, 0xfc]], ['big5', [0xa7, 0x41]], ['koi8-r', [0xf0, 0xd2]],
      ['euc-kr', [0xc7, 0xd1]], ['iso-8859-15', [0xa4]], ['utf-16le', [0xff, 0xfe, 0x61, 0, 0x3d, 0xd8, 0, 0xde]], ['utf-16be', [0, 0x61, 0xd8, 0x3d, 0xde, 0]], ['utf-16le', [0x61, 0, 0x62]], ['utf-16le', [0, 0xd8, 0x61, 0]]]
      .flatMap(([label, list]) => [{}, { fatal: true }, { ignoreBOM: true }].map((options) => () => new TextDecoder(label, options).decode(bytes(...list)))))

  const clone = (value) => structuredClone(value)
  group('structuredClone',
    ...[undefined, null, 1, -0, NaN, 'a', true, 10n].map((value) => () => [typeof clone(value), `${clone(value)}`, Object.is(value, clone(value))]),
    () => [clone({ a: [1, , 3], b: { c: undefined } }), 1 in clone([1, , 3]), clone([1, , 3]).length, Object.keys(clone(Object.assign([1], { x: 2 })))],
    () => clone(new Date(5)).getTime(), () => clone(new Date(NaN)).getTime(), () => { const r = /a/giu; r.lastIndex = 3; const c = clone(r); return [c.source, c.flags, c.lastIndex] },
    () => [...clone(new Map([[{ a: 1 }, new Set([1, [2]])]]))].map(([k, v]) => [k, [...v]]),
    () => { const a = { n: 1 }; a.self = a; const c = clone({ a, b: [a] }); return [c.a === c.b[0], c.a.self === c.a, c.a !== a] },
    () => { const m = new Map(); m.set('m', m); const c = clone(m); return c.get('m') === c },
    () => { class A { x = 1; get y() { return 2 } } const c = clone(new A()); return [c, Object.getPrototypeOf(c) === Object.prototype] },
    () => clone({ get a() { return 5 } }), () => clone(Object.create({ inherited: 1 }, { hidden: { value: 1 }, shown: { value: 2, enumerable: true } })), () => clone({ [Symbol('s')]: 1, t: 2 }),
    () => clone(Object.assign(Object.create(null), { a: 1 })), () => { const c = clone(JSON.parse('{"__proto__":{"a":1}}')); return [Object.keys(c), c.a] }, () => Object.isFrozen(clone(Object.freeze({ a: 1 }))),
    ...[Error, TypeError, RangeError, SyntaxError, EvalError, ReferenceError, URIError].map((E) => () => { const c = clone(new E('m')); return [c instanceof E, c.name, c.message, Object.keys(c)] }),
    () => { const e = new Error('m'); e.name = 'Own'; e.extra = 1; const c = clone(e); return [c.name, c.extra, c.constructor === Error, c.message] },
    () => { class Mine extends TypeError {} const c = clone(new Mine('m')); return [c.constructor === TypeError, c.message] }, () => typeof clone(new Error('m')).stack,
    ...[Object(1), Object('ab'), Object(false), Object(5n)].map((box) => () => { const c = clone(box); return [typeof c, `${c.valueOf()}`, c.constructor === box.constructor] }),
    () => { const b = new ArrayBuffer(8); const c = clone({ b, v: new Uint16Array(b, 2, 2), d: new DataView(b, 1, 3) }); return [c.v.buffer === c.b, c.d.buffer === c.b, c.v.byteOffset, c.v.length, c.d.byteLength, c.b !== b, c.v.constructor.name] },
    () => [...clone(new Float64Array([1.5, NaN]))].map(String), () => `${clone(new BigInt64Array([5n]))}`, () => clone(new ArrayBuffer(2, { maxByteLength: 9 })).maxByteLength,
    ...[() => {}, Symbol('x'), Promise.resolve(), new WeakMap(), new WeakSet(), new WeakRef({}), { a: { b() {} } }, [Symbol.iterator], new Map([[1, () => {}]]), class {}, (function * () {})(), Object(Symbol('x'))].map((value) => () => clone(value)),
    () => structuredClone(), () => structuredClone(1, 5),
    () => { const b = new ArrayBuffer(4); new Uint8Array(b)[0] = 7; const c = structuredClone({ b, v: new Uint8Array(b) }, { transfer: [b] }); return [b.byteLength, c.b.byteLength, c.v[0], c.v.buffer === c.b] },
    () => { const b = new ArrayBuffer(1); structuredClone(b, { transfer: [b, b] }) }, () => { const b = new ArrayBuffer(1); structuredClone(b, { transfer: [b] }); structuredClone(b) },
    () => { const b = new ArrayBuffer(1); try { structuredClone([b, () => {}], { transfer: [b] }) } catch { return b.byteLength } },
    () => { try { clone(() => {}) } catch (e) { return [e.name, e.code, e instanceof DOMException] } })

  group('crypto',
    () => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()), () => { const a = new Uint8Array(40); return [crypto.getRandomValues(a) === a, a.some((b) => b > 0)] },
    () => crypto.getRandomValues(new Float32Array(2)), () => crypto.getRandomValues(new DataView(new ArrayBuffer(2))), () => crypto.getRandomValues(new Uint8Array(65537)),
    () => crypto.getRandomValues(new BigUint64Array(8192)).length, () => { const a = new Uint8Array(64); crypto.getRandomValues(a.subarray(0, 0)); return [...a].every((b) => b === 0) })

  group('atob and btoa',
    ...['', 'YQ==', 'YQ', 'YWI=', 'YWJj', ' Y W\tI\n=\f\r', 'YQ=', 'Y', 'YQ===', '=', '====', 'YQ==YQ==', 'Y=Q=', 'YR==', '-_', 'Y\u00a0Q==', 'ab\0c', '/+8=', 'ü', 'YWJjZ', 'YWJjZA=', 'A A=\t=', '=a', '\vYQ=='].map((text) => () => atob(text)),
    ...['', 'a', '\0\xff', 'ab', 'abc', 'é', '€', '😀', null, undefined, 12, true, [1, 2]].map((text) => () => btoa(text)), () => atob(null), () => atob(12),
    () => { try { btoa('€') } catch (e) { return [e.name, e.code, e instanceof DOMException] } }, () => { try { atob('*') } catch (e) { return [e.name, e.code] } })

  group('Headers',
    () => [...new Headers({ B: '1', a: '2', 'X-Y': ' \t3\n ' })], () => [...new Headers([['a', '1'], ['A', '2'], ['b', '']])], () => [...new Headers(new Headers({ a: 'b' }))], () => [...new Headers(new Map([['a', 'b']]))],
    () => [...new Headers()], () => [...new Headers({ A: '1', a: '2' })], () => [...new Headers(undefined)], () => new Headers(null), () => new Headers('a'), () => new Headers(1), () => new Headers([['a']]), () => new Headers(['ab']), () => new Headers([['a', 'b', 'c']]), () => new Headers({ [Symbol('s')]: 1 }),
    ...['', ' ', 'a b', 'a:b', 'ü', 'a\n', '(', '€', 'a\0'].flatMap((name) => [() => new Headers([[name, 'x']]), () => new Headers().get(name), () => new Headers().has(name), () => new Headers().delete(name), () => new Headers().set(name, 'x')]),
    ...['a\nb', 'a\rb', 'a\0', '€', 'ü', '\r\n a \r\n', '', '\x01', 'a\tb'].map((value) => () => { const h = new Headers(); h.append('a', value); return h.get('a') }),
    () => {
      const h = new Headers([['Set-Cookie', 'a=1'], ['x', '1'], ['set-cookie', 'b=2, c'], ['b', '2']])
      const seen = [h.get('set-cookie'), h.getSetCookie(), [...h], [...h.keys()], [...h.values()], h.has('SET-COOKIE')]
      h.set('Set-Cookie', 'z')
      h.append('x', '2')
      h.set('B', 3)
      return [...seen, h.getSetCookie(), h.get('X'), h.get('b'), [...h], h.get('none')]
    },
    () => { const h = new Headers({ a: '1', b: '2' }); const seen = []; h.forEach(function (v, k, all) { seen.push(v, k, all === h, this.x) }, { x: 1 }); return seen },
    () => { const h = new Headers({ a: '1', b: '2' }); h.delete('A'); return [...h] }, () => new Headers().get(), () => new Headers().append('a'), () => Object.prototype.toString.call(new Headers()), () => Headers(), () => new Headers().forEach(), () => new Headers({ a: undefined, b: null, c: [1, 2] }).get('c'))

  const read = async (body) => [body.bodyUsed, await body.text(), body.bodyUsed, await body.text().catch((e) => e.name)]
  const about = (r) => [r.method, r.url, [...r.headers], r.redirect, r.credentials, r.mode, r.cache, r.signal instanceof AbortSignal]
  const at = 'https://a.example'
  group('Request',
    () => about(new Request(at)), () => about(new Request(new URL('https://a.example/b?c#d'))), () => about(new Request(at, { method: 'post', headers: { A: 'b' }, body: 'x' })),
    ...['get', 'PoSt', 'delete', 'patch', 'options', 'head', 'put', 'Custom', 'trace', 'CONNECT', 'track', 'a b', '', 'ü'].map((method) => () => new Request(at, { method }).method),
    () => new Request('relative'), () => new Request('https://u:p@a/'), () => new Request(), () => new Request(at, { body: 'x' }), () => new Request(at, { method: 'HEAD', body: 'x' }), () => new Request(at, { method: 'GET', body: null }).method,
    () => read(new Request(at, { method: 'POST', body: 'aé' })), () => read(new Request(at, { method: 'POST', body: new Uint8Array([104, 105]) })), () => read(new Request(at, { method: 'POST' })),
    () => about(new Request(at, { method: 'POST', body: new URLSearchParams({ a: 'b c' }) })), () => about(new Request(at, { method: 'POST', body: 'x', headers: { 'content-type': 'text/x' } })), () => about(new Request(at, { method: 'POST', body: new ArrayBuffer(2) })),
    async () => { const a = new Request(at, { method: 'POST', body: 'x' }); const b = new Request(a, { headers: { c: 'd' } }); return [a.bodyUsed, about(b), await b.text()] },
    async () => { const a = new Request(at, { method: 'POST', body: 'x' }); const b = a.clone(); return [await a.text(), b.bodyUsed, await b.text(), b.method] },
    async () => { const a = new Request(at, { method: 'POST', body: 'x' }); await a.text(); return a.clone() }, async () => { const a = new Request(at, { method: 'POST', body: 'x' }); await a.text(); return new Request(a) },
    () => new Request(at, { signal: {} }), () => new Request(at, { signal: null }).signal.aborted, () => { const c = new AbortController(); const r = new Request(at, { signal: c.signal }); c.abort(5); return [r.signal.aborted, r.signal.reason] },
    () => new Request(at, { headers: { 'a b': 'c' } }), () => new Request(at, 5), () => Object.prototype.toString.call(new Request(at)), () => { const r = new Request(at); try { r.url = 'x' } catch {} return r.url })

  const all = async (r) => [r.status, r.statusText, r.ok, r.type, r.url, r.redirected, [...r.headers], r.bodyUsed, await r.text()]
  group('Response',
    () => all(new Response()), () => all(new Response('aé', { status: 404, statusText: 'No', headers: { A: 'b' } })), () => all(new Response(new Uint8Array([0xef, 0xbb, 0xbf, 97]))), () => all(new Response(new URLSearchParams('a=b'))), () => all(new Response(null, { status: 204 })), () => all(new Response(5)),
    ...[0, 101, 103, 199, 200, 204, 205, 304, 599, 600, 65736, 'x', 200.9].flatMap((status) => [() => new Response(null, { status }).status, () => new Response('x', { status }).status]),
    ...['a\nb', 'ü', '€', '\0', ''].map((statusText) => () => new Response(null, { statusText }).statusText), () => new Response('x', { headers: [['a']] }), () => new Response(undefined, null).status,
    () => read(new Response('x')), () => read(new Response()), () => read(new Response('')), () => new Response('\ufeff{"a":1}').json(), () => new Response('\ufeffa').text(), () => new Response('{').json(), () => new Response('').json(),
    async () => [...new Uint8Array(await new Response('\ufeffa').arrayBuffer())], async () => [...new Uint8Array(await new Response(new Uint16Array([258, 5]).subarray(1)).arrayBuffer())], () => new Response('[1,2]').json(),
    async () => { const a = new Response('x', { status: 201, headers: { b: 'c' } }); const b = a.clone(); b.headers.set('b', 'd'); return [await all(a), await all(b)] }, async () => { const a = new Response('x'); await a.text(); return a.clone() },
    () => all(Response.json({ a: 1 })), () => all(Response.json([1], { status: 201, headers: { 'Content-Type': 'x/y' } })), () => Response.json(undefined), () => Response.json(1, { status: 204 }), () => all(Response.error()), () => { Response.error().headers.set('a', 'b') },
    () => all(Response.redirect('https://a/b', 307)), () => Response.redirect('https://a').status, () => Response.redirect('https://a', 200), () => Response.redirect('relative'), () => Response.redirect('https://a').headers.get('location'), () => { Response.redirect('https://a').headers.append('a', 'b') },
    async () => { const b = new Uint8Array([97]); const r = new Response(b); b[0] = 98; return r.text() }, () => Object.prototype.toString.call(new Response()), () => Response('x'), () => new Response(null).body, () => all(new Response({})), () => all(new Response(Symbol())))

  group('AbortSignal',
    () => new AbortSignal(), () => { const c = new AbortController(); return [c.signal.aborted, c.signal.reason, c.signal === c.signal, c.signal.onabort] },
    () => { const c = new AbortController(); c.abort(); return [c.signal.aborted, c.signal.reason.name, c.signal.reason instanceof DOMException, c.signal.reason.code] },
    () => { const c = new AbortController(); c.abort('x'); c.abort('y'); return c.signal.reason }, () => AbortSignal.abort('r').reason, () => AbortSignal.abort().reason.name, () => { AbortSignal.abort(7).throwIfAborted() }, () => new AbortController().signal.throwIfAborted(),
    () => {
      const [c, seen] = [new AbortController(), []]
      const twice = () => seen.push('twice')
      c.signal.addEventListener('abort', function (e) { seen.push(e.type, this === c.signal, e.target === c.signal) })
      c.signal.onabort = () => seen.push('replaced')
      c.signal.addEventListener('abort', twice)
      c.signal.addEventListener('abort', twice)
      c.signal.addEventListener('abort', { handleEvent() { seen.push('object') } }, { once: true })
      c.signal.addEventListener('other', () => seen.push('other'))
      const gone = () => seen.push('gone')
      c.signal.addEventListener('abort', gone)
      c.signal.removeEventListener('abort', gone)
      c.signal.onabort = () => seen.push('on')
      c.signal.addEventListener('abort', null)
      c.abort()
      c.abort()
      return seen
    },
    () => { const [a, b, seen] = [new AbortController(), new AbortController(), []]; const any = AbortSignal.any([a.signal, b.signal]); const deep = AbortSignal.any([any]); any.onabort = () => seen.push('any'); a.signal.onabort = () => seen.push('a', any.aborted); b.abort('b'); a.abort('a'); return [any.reason, deep.reason, deep.aborted, seen] },
    () => { const [c, seen] = [new AbortController(), []]; c.signal.addEventListener('abort', () => { seen.push(1); c.signal.addEventListener('abort', () => seen.push(2)) }); c.abort(); return seen },
    () => AbortSignal.any([AbortSignal.abort(1), AbortSignal.abort(2)]).reason, () => AbortSignal.any([]).aborted, () => AbortSignal.any([{}]), () => AbortSignal.any(), () => AbortSignal.timeout('x'), () => AbortSignal.timeout(1e6).aborted,
    () => Object.prototype.toString.call(new AbortController().signal), () => { const [c, d, seen] = [new AbortController(), new AbortController(), []]; c.signal.addEventListener('abort', () => seen.push(1), { signal: d.signal }); d.abort(); c.abort(); return seen })

  group('globals',
    ...['URL', 'URLSearchParams', 'TextEncoder', 'TextDecoder', 'structuredClone', 'Headers', 'Request', 'Response', 'fetch', 'AbortController', 'AbortSignal'].map((name) => () => {
      const d = Object.getOwnPropertyDescriptor(globalThis, name)
      return [typeof globalThis[name], globalThis[name].name, d.configurable]
    }))
  return cases
})()
