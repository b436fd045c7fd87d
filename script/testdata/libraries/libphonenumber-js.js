const { parsePhoneNumber, parsePhoneNumberFromString, AsYouType, isValidPhoneNumber, findPhoneNumbersInText, getCountryCallingCode, validatePhoneNumberLength } = require('libphonenumber-js')
const of = (text, country) => {
  const found = parsePhoneNumberFromString(text, country)
  return found && [found.number, found.country, found.formatNational(), found.formatInternational(), found.getURI(), found.isValid(), found.isPossible(), found.getType()]
}
return [
  () => of('0664 123 45 67', 'AT'),
  () => of('(213) 373-4253 ext. 12', 'US'),
  () => of('+886 912 345 678'),
  () => of('+44 20 7183 8750'),
  () => of('８ (８００) ５５５-３５-３５', 'RU'),
  () => of('not a number'),
  () => parsePhoneNumber('abc', 'US'),
  () => parsePhoneNumber('123'),
  () => parsePhoneNumber('+999 123 4567'),
  () => new AsYouType('US').input('2133734') + '|' + new AsYouType().input('+4366412345'),
  () => findPhoneNumbersInText('Call +1 213 373 4253 or (213) 373-4254, room 12345.', 'US').map((one) => [one.startsAt, one.endsAt, one.number.number]),
  () => [isValidPhoneNumber('8 (800) 555-35-35', 'RU'), getCountryCallingCode('TW'), validatePhoneNumberLength('12', 'US')],
  () => require('libphonenumber-js/max').parsePhoneNumber('+436641234567').getType(),
  () => JSON.stringify(parsePhoneNumber('+12133734253')),
]
