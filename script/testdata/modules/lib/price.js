const { euro } = require('./format')
const rates = require('./rates.json')

let asked = 0

exports.price = function price(amount) {
  asked++
  return euro(amount * rates.vat) + ' #' + asked
}
