exports.fail = function fail() {
  throw new RangeError('out of tea')
}
