// Returns the digests of many results of the language, by group, as JSON.
(() => {
  let seed = 1
  const next = () => { let t = seed += 0x6D2B79F5; t = Math.imul(t ^ t >>> 15, t | 1); t ^= t + Math.imul(t ^ t >>> 7, t | 61); return (t ^ t >>> 14) >>> 0 }
  const below = (n) => next() % n
  const of = (list) => list[below(list.length)]
  const bits = new DataView(new ArrayBuffer(8))
  const double = () => {
    switch (below(4)) {
      case 0: return next() / 1000
      case 1: return Number(`${of(['', '-'])}${next()}e${below(60) - 30}`)
      case 2: return of([0, -0, 1, 0.1, 0.5, 1.5, 2.5, 1e21, 1e-7, 123456789012345680000, 2 ** 53, 5e-324, 1.7976931348623157e308, 4.35, 1.005, 0.000001])
      default: {
        bits.setUint32(0, next())
        bits.setUint32(4, next())
        const value = bits.getFloat64(0)
        return value === value ? value : 0.3
      }
    }
  }
  const digests = {}
  const group = (name, times, run) => {
    let a = 0x811c9dc5, b = 0x12345678
    const add = (value) => {
      const text = Object.is(value, -0) ? '-0' : String(value)
      for (let i = 0; i < text.length; i++) {
        a = Math.imul(a ^ text.charCodeAt(i), 0x01000193)
        b = Math.imul(b + text.charCodeAt(i) | 0, 0x5bd1e995) ^ b >>> 13
      }
      a = Math.imul(a ^ 0x1f, 0x01000193)
    }
    for (let i = 0; i < times; i++) {
      try { run(add, i) } catch (error) { add(error.name) }
    }
    digests[name] = (a >>> 0).toString(16).padStart(8, '0') + (b >>> 0).toString(16).padStart(8, '0')
  }

  group('numbers: text', 2000, (add) => { const value = double(); add(value); add(JSON.stringify([value])); add(Number(String(value)) === value) })
  group('numbers: toFixed', 2000, (add) => add(double().toFixed(below(12))))
  group('numbers: toPrecision', 2000, (add) => add(double().toPrecision(1 + below(21))))
  group('numbers: toExponential', 2000, (add) => add(double().toExponential(below(21))))
  group('numbers: toString of a radix', 1500, (add) => add(((next() - 2 ** 31) / of([1, 3, 1024, 1e5])).toString(2 + below(35))))
  group('numbers: parsing', 4000, (add) => {
    const digits = () => String(next()).slice(0, 1 + below(10))
    const text = of(['', '-', '+']) + of([digits(), '']) + of(['.', '']) + of([digits(), digits() + digits(), '']) + of(['', `e${of(['', '-', '+'])}${below(330)}`])
    add(Number(text)); add(parseFloat(text)); add(parseInt(text, of([undefined, 2, 10, 16])))
  })
  group('numbers: parsing of other forms', 500, (add) => { const text = of(['0x', '0b', '0o', ' ', '1_', '\u00a0', 'Infinity', '-']) + next().toString(of([2, 8, 10, 16])); add(Number(text)); add(parseInt(text)) })
  group('numbers: integers', 2000, (add) => { const a = double(), b = double(); add(a | 0); add(a >>> 0); add(a << below(40)); add(a % b); add(Math.imul(a, b)); add(Math.clz32(a)) })
  group('numbers: arithmetic', 800, (add) => { const a = double(), b = double(); add(a + b); add(a * b); add(a / b); add(a - b); add(a < b); add(Math.sqrt(a)); add(Math.fround(a)); add(Math.round(a)); add(Math.trunc(a)); add(Math.floor(a)); add(Math.ceil(a)) })
  for (const name of ['sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh', 'tanh', 'asinh', 'acosh', 'atanh', 'exp', 'expm1', 'log', 'log2', 'log10', 'log1p', 'cbrt']) {
    group('numbers: Math.' + name, 800, (add) => { add(Math[name](double())); add(Math[name](next() / 2 ** 31)) })
  }
  group('numbers: Math.pow, hypot and atan2', 1500, (add) => { const a = double(), b = double(); add(Math.pow(next() / 1e5, below(40) / 4 - 5)); add(a ** b); add(Math.hypot(a, b)); add(Math.atan2(a, b)) })

  const at = () => Date.UTC(1990, 0, 1) + below(48 * 366) * 864e5 + next() % 864e5 // Until 2038.
  group('dates: UTC', 1500, (add) => {
    const date = new Date(at())
    add(date.toISOString()); add(date.toUTCString()); add(date.getUTCDay())
    date.setUTCMonth(below(40) - 20); date.setUTCDate(below(100) - 50); date.setUTCHours(below(100), below(100), below(100), below(2000))
    add(+date); add(JSON.stringify(date))
  })
  group('dates: local', 1500, (add) => {
    const date = new Date(at())
    add(date.toString().slice(0, 33)); add(date.toDateString()); add(date.getTimezoneOffset())
    add([date.getFullYear(), date.getMonth(), date.getDate(), date.getDay(), date.getHours(), date.getMinutes()])
    date.setMonth(below(30) - 15); date.setDate(below(80) - 40); date.setHours(below(60) - 20, below(100)); add(+date)
    add(+new Date(1990 + below(48), below(14), below(33), below(26), below(62), below(62), below(1002)))
  })
  group('dates: far away', 500, (add) => { const value = (next() - 2 ** 31) * of([1e3, 1e6, 4e6, 4.1e6]); const date = new Date(value); add(+date); add(date.toISOString()); add(Date.UTC(below(400000) - 200000, below(12), below(31))) })
  group('dates: parsing', 2000, (add) => {
    const two = (n) => String(below(n)).padStart(2, '0')
    const day = `${1990 + below(48)}-${two(14)}-${two(33)}`, time = of([`${two(25)}:${two(61)}`, `${two(25)}:${two(61)}:${two(61)}`, `${two(24)}:${two(60)}:${two(60)}.${below(1e6)}`])
    const months = ['Jan', 'Feb', 'March', 'Apr', 'may', 'JUN', 'July', 'Aug', 'Sept', 'Oct', 'Nov', 'Dec']
    add(Date.parse(of([
      day, `${day}T${time}`, `${day}T${time}Z`, `${day}T${time}+0${below(10)}:${of(['00', '30', '45'])}`, `${day} ${time}`, `${1990 + below(48)}-${two(14)}`, `${of(months)} ${two(32)}, ${1990 + below(48)} ${time}`,
      `${two(32)} ${of(months)} ${1990 + below(48)} ${time} GMT`, `${below(14)}/${below(33)}/${1990 + below(48)}`, new Date(at()).toString(), new Date(at()).toUTCString(), `+00${1990 + below(48)}-01-01T00:00:00Z`, 'nonsense', '',
    ])))
  })

  const big = () => BigInt.asIntN(below(400) + 1, Array.from({ length: 1 + below(12) }, next).reduce((sum, part) => sum << 32n | BigInt(part), 0n))
  group('BigInt: arithmetic', 500, (add) => { const a = big(), b = big(); add(a + b); add(a - b); add(a * b); add(b === 0n ? 0n : a / b); add(b === 0n ? 0n : a % b); add(a & b); add(a | b); add(a ^ b); add(~a); add(a < b) })
  group('BigInt: shifts and powers', 800, (add) => { const a = big(); add(a << BigInt(below(200))); add(a >> BigInt(below(200))); add((a & 0xffffn) ** BigInt(below(12))); add(BigInt.asUintN(below(130), a)); add(BigInt.asIntN(below(130), a)) })
  group('BigInt: text and numbers', 1000, (add) => { const a = big(), radix = 2 + below(35); add(a.toString(radix)); add(BigInt(String(a)) === a); add(Number(a)); add(a == Number(a)); add(BigInt(Math.trunc(next() * 2 ** below(200)))); add(BigInt('0x' + (a < 0n ? -a : a).toString(16))) })

  const alphabets = ['ab', 'aAbB', '01ab -', 'aäÄßſKk\u212a', '😀😁a', 'αΑ\nb\r\u2028', 'かがカ漢']
  const piece = (alphabet) => {
    const one = of(alphabet)
    return of([one, one, `[${one}${of(alphabet)}]`, `[^${one}]`, `(${one})`, `(?:${one}|${of(alphabet)}${one})`, '.', '\\w', '\\b', '\\s', '^', '$', '\\d', `(?=${one})`, `(?<!${one})`]) + of(['', '', '', '*', '+', '?', '{1,2}', '*?'])
  }
  group('regular expressions', 1500, (add) => {
    const alphabet = [...of(alphabets)]
    const text = Array.from({ length: below(14) }, () => of(alphabet)).join('')
    const pattern = new RegExp(Array.from({ length: 1 + below(4) }, () => piece(alphabet)).join(''), 'g' + of(['', 'i', 'u', 'iu', 'm', 's', 'mu']))
    for (const found of text.matchAll(pattern)) { add(found.index); add(JSON.stringify(found)) }
    add(text.replace(pattern, '[$&$1]')); add(JSON.stringify(text.split(pattern))); add(text.search(pattern))
  })
  group('regular expressions: properties', 1, (add) => {
    for (const name of ['L', 'Lu', 'Ll', 'N', 'P', 'S', 'Script=Greek', 'Script=Han', 'Emoji', 'ID_Continue']) {
      const pattern = new RegExp(`\\p{${name}}`, 'u')
      for (let point = 0; point < 0x30000; point += 29) if (pattern.test(String.fromCodePoint(point))) add(point)
    }
  })
  group('normalize', 1, (add) => {
    for (let point = 0xa0; point < 0x30000; point += point < 0x3000 ? 1 : 41) {
      if (point >= 0xd800 && point < 0xe000) continue
      const text = String.fromCodePoint(point) + 'a\u0301\u0323'
      for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD']) { const made = text.normalize(form); if (made !== text) add(made) }
    }
  })
  group('cases of letters', 1, (add) => {
    for (let point = 0; point < 0x20000; point += point < 0x3000 ? 1 : 41) { const text = String.fromCodePoint(point); add(text.toUpperCase()); add(text.toLowerCase()) }
  })
  group('sorting and JSON', 20, (add) => {
    const list = Array.from({ length: below(200) }, () => of([double(), String(next()), { n: next(), list: [double()] }, null, true]))
    add(list.map(String).sort()); add(JSON.stringify(list)); add(JSON.stringify(JSON.parse(JSON.stringify(list)), null, 2).length)
    add(list.filter((one) => typeof one === 'number').sort((a, b) => a - b))
  })
  return JSON.stringify(digests, null, 2)
})()
