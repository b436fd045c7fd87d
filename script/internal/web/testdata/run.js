// Runs cases, and returns the promise of their results as texts.
(async (cases) => {
  const show = (value) => JSON.stringify(value, (_, one) => {
    if (one === undefined) return '(undefined)'
    if (typeof one === 'number' && !Number.isFinite(one)) return `(${one})`
    return typeof one === 'function' || typeof one === 'symbol' || typeof one === 'bigint' ? `(${typeof one})` : one
  })
  const results = []
  for (const [group, run] of cases) {
    let result
    try {
      result = show(await run())
    } catch (error) {
      result = `throws ${error?.name ?? error}`
    }
    results.push([group, `${run}`, result])
  }
  return JSON.stringify(results)
})
