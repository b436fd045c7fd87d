const validator = require('validator')
return [
  () => ['ada@example.com', 'ada@', 'a+b@ex-ample.co.uk', '"a b"@x.at', 'ü@exämple.at', 'a'.repeat(65) + '@x.at'].map((one) => validator.isEmail(one)),
  () => ['http://a.at', 'a.at/b?c#d', 'ftp://u:p@h.com:21', 'http://localhost', 'javascript:alert(1)', 'http://[::1]/', 'http://ü.at'].map((one) => validator.isURL(one)),
  () => ['4111 1111 1111 1111', '4111111111111112', '5555555555554444'].map((one) => validator.isCreditCard(one)),
  () => ['AT611904300234573201', 'DE89370400440532013000', 'DE8937040044053201300'].map((one) => validator.isIBAN(one)),
  () => [validator.isMobilePhone('+436641234567', 'de-AT'), validator.isMobilePhone('0912345678', 'zh-TW'), validator.isMobilePhone('123', 'any')],
  () => [validator.isUUID('6ba7b810-9dad-11d1-80b4-00c04fd430c8'), validator.isUUID('x'), validator.isISBN('978-3-16-148410-0'), validator.isISO8601('2026-02-30', { strict: true })],
  () => validator.normalizeEmail('A.d.a+news@GoogleMail.com'),
  () => validator.escape('<a href="x">\'&`/</a>') + validator.unescape('&lt;b&gt;') + validator.stripLow('a\u0001b') + validator.trim('  x '),
  () => [validator.isIP('::1'), validator.isIP('1.2.3.256'), validator.isFQDN('a_b.at'), validator.isJSON('{"a":1}'), validator.isBase64('aGk='), validator.isHexColor('#fff')],
  () => [validator.toDate('2026-01-02'), validator.toFloat('1.5x'), validator.toInt('077', 8), validator.toBoolean('yes'), validator.isDecimal('1,5', { locale: 'de-DE' })],
  () => [validator.isAlpha('äöü', 'de-DE'), validator.isAlpha('абв', 'ru-RU'), validator.isPostalCode('1010', 'AT'), validator.isStrongPassword('aA1!aA1!'), validator.isEmpty(' ', { ignore_whitespace: true })],
  () => validator.isEmail(7),
  () => [validator.isFullWidth('ａ'), validator.isSurrogatePair('😀'), validator.isMultibyte('中'), validator.isLength('😀😀', { max: 2 }), validator.isByteLength('ü', { max: 1 })],
]
