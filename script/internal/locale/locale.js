// This file replaces the methods that depend on a language. own contains the host's functions, see locale.go.
(function (own) {
  'use strict'
  const { ask } = own
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, assign, hasOwn } = Object
  const uncurried = (method) => Function.prototype.call.bind(method)
  const numberOf = uncurried(Number.prototype.valueOf)
  const bigOf = uncurried(BigInt.prototype.valueOf)
  const test = uncurried(RegExp.prototype.test)
  const lower = uncurried(String.prototype.toLowerCase)
  const padStart = uncurried(String.prototype.padStart)
  const slice = uncurried(String.prototype.slice)
  const split = uncurried(String.prototype.split)
  const isWellFormed = uncurried(String.prototype.isWellFormed)
  const { isFinite, isNaN } = Number
  const { trunc, abs, max, min } = Math

  // replace replaces a method of a prototype.
  function replace(prototype, name, method) {
    const { length } = prototype[name]
    defineProperty(method, 'length', { value: length, configurable: true })
    defineProperty(method, 'name', { value: name, configurable: true })
    defineProperty(prototype, name, { ...getOwnPropertyDescriptor(prototype, name), value: method })
  }

  function refuse(method, what, instead) {
    throw assign(new RangeError(`${method} with ${what} is not supported: ${instead}`), { code: 'Unsupported' })
  }

  const wellFormed = /^[a-z]{2,3}(-[a-z]{3})?(-[a-z]{4})?(-([a-z]{2}|\d{3}))?(-([a-z\d]{5,8}|\d[a-z\d]{3}))*(-[a-z\d]-[a-z\d]{2,8}(-[a-z\d]{2,8})*)*$/i

  // localeOf returns the first locale of the argument, in lower case.
  function localeOf(locales) {
    if (locales === undefined) return 'en-us'
    if (locales === null) throw new TypeError('Cannot convert undefined or null to object')
    const list = typeof locales === 'string' ? [locales] : typeof locales === 'object' ? Array.from(locales) : []
    for (const tag of list) {
      if (typeof tag !== 'string') throw new TypeError('Language ID should be string or object.')
      if (!test(wellFormed, tag)) throw new RangeError(`Incorrect locale information provided: ${tag}`)
    }
    return list.length === 0 ? 'en-us' : lower(list[0])
  }

  const optionsOf = (options) => {
    if (options === null) throw new TypeError('Cannot convert undefined or null to object')
    return options === undefined ? {} : Object(options)
  }

  // oneOf returns an option as text, and refuses texts that are not in values.
  function oneOf(options, name, values, otherwise) {
    if (options[name] === undefined) return otherwise
    const value = `${options[name]}`
    if (!values.includes(value)) throw new RangeError(`Value ${value} out of range for options property ${name}`)
    return value
  }

  // onlyDefaults refuses options whose values differ from their defaults.
  function onlyDefaults(method, options, defaults, instead) {
    for (const name in defaults) {
      const value = options[name]
      if (value !== undefined && `${value}` !== defaults[name]) refuse(method, `the option ${name} ${value}`, instead)
    }
  }

  // Order.

  const comparing = 'String.prototype.localeCompare'
  const byLetters = ['en', 'de', 'fr', 'it', 'es', 'pt', 'nl', 'sv', 'fi', 'pl', 'cs', 'tr', 'ru', 'uk', 'el', 'hu', 'ro', 'id']
  const strengths = { base: 1, accent: 2, variant: 3 }
  const mostKeys = 2000
  const mostKept = 100 // The maximum length of a kept text, in characters.
  let keys = {} // Maps each way to compare to a Map of the kept keys.
  let count = 0

  function keyOf(text, language, numeric, levels) {
    const way = language + levels + numeric
    const kept = keys[way]?.get(text)
    if (kept !== undefined) return kept
    if (!isWellFormed(text)) refuse(comparing, 'half of a surrogate pair', 'it is no text')
    const key = ask('sortKey', { text, language, numeric, levels })
    if (text.length > mostKept) return key
    if (count++ % mostKeys === 0) keys = { __proto__: null }
    keys[way] ??= new Map()
    keys[way].set(text, key)
    return key
  }

  replace(String.prototype, 'localeCompare', { localeCompare(that, locales, options) {
    if (this === undefined || this === null) throw new TypeError(`${comparing} called on null or undefined`)
    const text = `${this}`
    const other = `${that}`
    let numeric = false
    let levels = 3
    let language = 'en'
    if (locales !== undefined || options !== undefined) {
      const locale = localeOf(locales)
      const given = optionsOf(options)
      language = split(locale, '-')[0]
      if (!byLetters.includes(language) || locale === 'fr-ca' || test(/-[a-z]-/, locale)) refuse(comparing, `the locale ${locale}`, `use one of ${byLetters}`)
      const sensitivity = oneOf(given, 'sensitivity', ['base', 'accent', 'case', 'variant'], 'variant')
      if (!hasOwn(strengths, sensitivity)) refuse(comparing, 'the sensitivity case', 'use base, accent or variant')
      levels = strengths[sensitivity]
      numeric = given.numeric !== undefined && Boolean(given.numeric)
      oneOf(given, 'caseFirst', ['upper', 'lower', 'false'])
      oneOf(given, 'usage', ['sort', 'search'])
      onlyDefaults(comparing, given, { usage: 'sort', caseFirst: 'false', ignorePunctuation: 'false', collation: 'default' }, 'the default is')
    }
    if (text === other) return 0
    const [one, two] = [keyOf(text, language, numeric, levels), keyOf(other, language, numeric, levels)]
    return one < two ? -1 : one > two ? 1 : 0
  } }.localeCompare)

  // Case.

  for (const [name, plain, asked] of [['toLocaleUpperCase', String.prototype.toUpperCase, 'upper'], ['toLocaleLowerCase', String.prototype.toLowerCase, 'lower']]) {
    const usual = uncurried(plain)
    replace(String.prototype, name, { [name](locales) {
      if (this === undefined || this === null) throw new TypeError(`String.prototype.${name} called on null or undefined`)
      const text = `${this}`
      const language = split(localeOf(locales), '-')[0]
      if (language === 'lt' || asked === 'upper' && (language === 'el' || language === 'hy')) refuse(name, `the locale ${language}`, `use ${plain.name}`)
      return ['tr', 'az'].includes(language) && isWellFormed(text) ? ask(asked, { text, language }) : usual(text)
    } }[name])
  }

  // Numbers.

  // Each locale has the separator of groups, the decimal point, the minimum number of digits before the first group,
  // the text before %, the place of the currency (before the number, before it with a space, or after it), and the
  // currency symbols.
  const currencies = ['USD', 'EUR', 'GBP', 'JPY', 'CNY', 'TWD', 'HKD', 'KRW', 'BRL', 'CHF']
  const spaced = '\u00A0'
  const english = '$ € £ ¥ CN¥ NT$ HK$ ₩ R$ CHF'
  const abroad = 'US$ € £ JP¥ CN¥ NT$ HK$ ₩ R$ CHF'
  const chinese = 'US$ € £ ¥ CN¥ NT$ HK$ ₩ R$ CHF'
  const formats = {
    'en en-us': [',', '.', 1, '', 'before', english],
    'en-gb': [',', '.', 1, '', 'before', abroad],
    'de de-de': ['.', ',', 1, spaced, 'after', english],
    'fr fr-fr': ['\u202F', ',', 1, spaced, 'after', '$US € £GB JPY CNY TWD HKD ₩ R$ CHF'],
    'es es-es': ['.', ',', 2, spaced, 'after', 'US$ € GBP JPY CNY TWD HKD KRW BRL CHF'],
    'it it-it': ['.', ',', 2, '', 'after', 'USD € £ JPY CN¥ TWD HKD KRW BRL CHF'],
    'pt pt-br': ['.', ',', 1, '', 'spaced', abroad],
    'ja ja-jp': [',', '.', 1, '', 'before', '$ € £ ￥ 元 NT$ HK$ ₩ R$ CHF'],
    'ko ko-kr': [',', '.', 1, '', 'before', abroad],
    'zh zh-cn zh-hans': [',', '.', 1, '', 'before', 'US$ € £ JP¥ ¥ NT$ HK$ ₩ R$ CHF'],
    'zh-tw zh-hant': [',', '.', 1, '', 'before', 'US$ € £ ¥ CN¥ $ HK$ ￦ R$ CHF', '非數值'],
    'zh-hk': [',', '.', 1, '', 'before', chinese, '非數值'],
  }
  const formatOf = {}
  for (const tags in formats) for (const tag of tags.split(' ')) formatOf[tag] = formats[tags]
  const numberDefaults = {
    localeMatcher: 'best fit', numberingSystem: 'latn', currencyDisplay: 'symbol', currencySign: 'standard', unit: '', unitDisplay: 'short',
    notation: 'standard', compactDisplay: 'short', signDisplay: 'auto', minimumIntegerDigits: '1', minimumSignificantDigits: '',
    maximumSignificantDigits: '', roundingMode: 'halfExpand', roundingPriority: 'auto', roundingIncrement: '1', trailingZeroDisplay: 'auto',
  }

  // digitsOption returns an option as a number of digits, or undefined if the option is missing.
  function digitsOption(options, name) {
    if (options[name] === undefined) return undefined
    const value = Number(options[name])
    if (!(value >= 0 && value <= 20)) throw new RangeError(`${name} value is out of range.`)
    return trunc(value)
  }

  // groupsOf returns the minimum number of digits before the first group, or Infinity if there are no groups.
  function groupsOf(options, least) {
    const value = options.useGrouping
    if (value === undefined || value === 'true' || value === 'false' || value === 'auto') return least
    if (value === true || value === 'always') return 1
    if (!value) return Infinity
    return oneOf(options, 'useGrouping', ['min2']) && 2
  }

  // rounded returns the digits of a number times ten to the power of shift, before and after the point.
  function rounded(number, shift, least, most) {
    const [mantissa, exponent = '0'] = split(`${number}`, 'e')
    const [whole, fraction = ''] = split(mantissa, '.')
    const power = Number(exponent) - fraction.length + shift + most
    const digits = BigInt(whole + fraction)
    const divisor = power < 0 ? 10n ** BigInt(-power) : 1n
    const scaled = power < 0 ? (digits + divisor / 2n) / divisor : digits * 10n ** BigInt(power)
    const text = padStart(`${scaled}`, most + 1, '0')
    let end = text.length
    while (end > text.length - most + least && text[end - 1] === '0') end--
    return [slice(text, 0, text.length - most), slice(text, text.length - most, end)]
  }

  function grouped(digits, separator, least) {
    if (digits.length < 3 + least) return digits
    let text = slice(digits, -3)
    for (let end = digits.length - 3; end > 0; end -= 3) text = slice(digits, max(0, end - 3), end) + separator + text
    return text
  }

  function formatted(method, value, locales, options) {
    const locale = localeOf(locales)
    const given = optionsOf(options)
    if (!hasOwn(formatOf, locale)) refuse(method, `the locale ${locale}`, `use one of ${Object.keys(formatOf)}`)
    const [separator, point, least, beforePercent, place, symbols, notANumber = 'NaN'] = formatOf[locale]
    onlyDefaults(method, given, numberDefaults, 'the default is')
    const style = oneOf(given, 'style', ['decimal', 'percent', 'currency', 'unit'], 'decimal')
    if (style === 'unit') refuse(method, 'the style unit', 'write the unit after the number')
    const currency = given.currency === undefined ? undefined : `${given.currency}`.toUpperCase()
    if (currency !== undefined && !test(/^[A-Z]{3}$/, currency)) throw new RangeError(`Invalid currency code : ${given.currency}`)
    if (style === 'currency' && currency === undefined) throw new TypeError('Currency code is required with currency style.')
    if (style === 'currency' && !currencies.includes(currency)) refuse(method, `the currency ${currency}`, `use one of ${currencies}`)
    const usual = style !== 'currency' ? 0 : currency === 'JPY' || currency === 'KRW' ? 0 : 2
    let from = digitsOption(given, 'minimumFractionDigits')
    let to = digitsOption(given, 'maximumFractionDigits')
    if (from === undefined) from = to === undefined ? usual : min(usual, to)
    if (to === undefined) to = max(from, style === 'decimal' ? 3 : usual)
    if (from > to) throw new RangeError('maximumFractionDigits value is out of range.')

    const isNegative = value < 0 || Object.is(value, -0)
    let text = notANumber
    if (typeof value === 'bigint' || isFinite(value)) {
      const [whole, fraction] = rounded(value < 0 ? -value : value, style === 'percent' ? 2 : 0, from, to)
      text = grouped(whole, separator, groupsOf(given, least)) + (fraction === '' ? '' : point + fraction)
    } else if (!isNaN(value)) text = '∞'
    if (style === 'percent') text += `${beforePercent}%`
    if (style === 'currency') {
      const symbol = split(symbols, ' ')[currencies.indexOf(currency)]
      const gap = place === 'before' && !test(/\p{L}\d/u, symbol + text[0]) ? '' : spaced
      text = place === 'after' ? text + gap + symbol : symbol + gap + text
    }
    return isNegative ? `-${text}` : text
  }

  replace(Number.prototype, 'toLocaleString', { toLocaleString(locales, options) {
    return formatted('Number.prototype.toLocaleString', numberOf(this), locales, options)
  } }.toLocaleString)
  replace(BigInt.prototype, 'toLocaleString', { toLocaleString(locales, options) {
    return formatted('BigInt.prototype.toLocaleString', bigOf(this), locales, options)
  } }.toLocaleString)

  // Dates.

  const get = {}
  for (const name of ['FullYear', 'Month', 'Date', 'Hours', 'Minutes', 'Seconds', 'Time']) get[name] = uncurried(Date.prototype[`get${name}`])
  const dateOptions = ['weekday', 'era', 'year', 'month', 'day', 'dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits', 'timeZoneName',
    'timeZone', 'hour12', 'hourCycle', 'dateStyle', 'timeStyle', 'calendar', 'numberingSystem', 'formatMatcher', 'localeMatcher']
  const two = (number) => padStart(`${number}`, 2, '0')

  function dateText(date) {
    const year = get.FullYear(date)
    return `${get.Month(date) + 1}/${get.Date(date)}/${year > 0 ? year : 1 - year}`
  }

  function timeText(date) {
    const hours = get.Hours(date)
    return `${hours % 12 || 12}:${two(get.Minutes(date))}:${two(get.Seconds(date))} ${hours < 12 ? 'AM' : 'PM'}`
  }

  for (const [name, text] of [['toLocaleString', (date) => `${dateText(date)}, ${timeText(date)}`], ['toLocaleDateString', dateText], ['toLocaleTimeString', timeText]]) {
    const method = `Date.prototype.${name}`
    const instead = 'use moment: this.moment(date).format(...)'
    replace(Date.prototype, name, { [name](locales, options) {
      const time = get.Time(this)
      const locale = localeOf(locales)
      const given = optionsOf(options)
      if (locale !== 'en-us' && locale !== 'en') refuse(method, `the locale ${locale}`, instead)
      for (const option of dateOptions) if (given[option] !== undefined) refuse(method, `the option ${option}`, instead)
      return isNaN(time) ? 'Invalid Date' : text(this)
    } }[name])
  }

  // Lists.

  for (const prototype of [Array.prototype, getPrototypeOf(Uint8Array.prototype)]) {
    const length = prototype === Array.prototype ? undefined : uncurried(getOwnPropertyDescriptor(prototype, 'length').get)
    replace(prototype, 'toLocaleString', { toLocaleString(locales, options) {
      if (this === undefined || this === null) throw new TypeError('Array.prototype.toLocaleString called on null or undefined')
      const list = Object(this)
      const count = length === undefined ? min(max(trunc(Number(list.length)) || 0, 0), Number.MAX_SAFE_INTEGER) : length(this)
      let text = ''
      for (let i = 0; i < count; i++) {
        const element = list[i]
        text += (i === 0 ? '' : ',') + (element === undefined || element === null ? '' : `${element.toLocaleString(locales, options)}`)
      }
      return text
    } }.toLocaleString)
  }
})
