exports.euro = (amount) => '€' + amount.toFixed(2)
