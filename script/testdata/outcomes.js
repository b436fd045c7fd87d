// Runs functions, and returns a promise of the list of their results as texts.
(async (functions) => {
  const plain = (key, value) => {
    if (value === undefined) return '(undefined)'
    if (typeof value === 'bigint') return `${value}n`
    if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0))) return Object.is(value, -0) ? '(-0)' : `(${value})`
    if (typeof value === 'function' || typeof value === 'symbol') return `(${typeof value})`
    if (value instanceof Map || value instanceof Set) return { [value.constructor.name]: [...value] }
    return value
  }
  const results = []
  for (const run of functions) {
    try {
      results.push(JSON.stringify(await run(), plain))
    } catch (error) {
      results.push(`throws ${error?.name}: ${error?.message}`)
    }
  }
  return results
})
