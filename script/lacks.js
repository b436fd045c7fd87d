// What the engine below lacks of the language: each function becomes a method, where a script names it. They begin
// as the language has them, and keep to its order of what is read and called.
(function () {
  const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function'
  const needFunction = (value) => {
    if (typeof value !== 'function') throw new TypeError(`${typeof value} is not a function`)
    return value
  }
  const groups = (items, keyOf, add) => {
    if (items === undefined || items === null) throw new TypeError(`${items} cannot be grouped`)
    needFunction(keyOf)
    let n = 0
    for (const item of items) add(keyOf(item, n++), item)
  }

  // What is iterated is closed where a function of the script ends the iteration.
  const closed = (iterator, call) => {
    try {
      return call()
    } catch (error) {
      try { iterator.return?.() } catch { /* The first error is the one that counts. */ }
      throw error
    }
  }
  const step = (next, iterator) => {
    const result = next.call(iterator)
    if (!isObject(result)) throw new TypeError('what an iterator returns must be an object')
    return result
  }
  const receiver = (iterator) => {
    if (!isObject(iterator)) throw new TypeError('a method of iterators was called on what is none')
    return iterator
  }
  const functionFor = (iterator, value) => closed(iterator, () => needFunction(value))
  const limitFor = (iterator, value) => closed(iterator, () => {
    const number = Number(value)
    if (Number.isNaN(number) || Math.trunc(number) < 0) throw new RangeError(`${value} must be 0 or more`)
    return Math.trunc(number)
  })
  const visited = (iterator, visit) => {
    const next = iterator.next
    for (let n = 0; ; n++) {
      const result = step(next, iterator)
      if (result.done) return undefined
      const found = closed(iterator, () => visit(result.value, n))
      if (found === undefined) continue
      iterator.return?.()
      return found.value
    }
  }

  // lazily is an iterator that reads another one as it is read itself.
  const prototypeOf = Object.getPrototypeOf
  const iterators = prototypeOf(prototypeOf([][Symbol.iterator]()))
  const helpers = Object.create(iterators, {
    [Symbol.toStringTag]: { value: 'Iterator Helper', configurable: true },
  })
  const states = new WeakMap()
  const stateOf = (helper) => {
    const state = states.get(helper)
    if (!state) throw new TypeError('this is no helper of iterators')
    return state
  }
  const method = (owner, name, value) => Object.defineProperty(owner, name, { value, writable: true, configurable: true })
  method(helpers, 'next', function next() {
    const state = stateOf(this)
    if (state.isRunning) throw new TypeError('the helper of iterators is running')
    state.isRunning = state.hasBegun = true
    try {
      return state.generator.next()
    } finally {
      state.isRunning = false
    }
  })
  method(helpers, 'return', { return() {
    const state = stateOf(this)
    if (state.isRunning) throw new TypeError('the helper of iterators is running')
    if (!state.hasBegun) {
      state.hasBegun = true
      state.generator.return()
      state.iterator.return?.()
      return { value: undefined, done: true }
    }
    return state.generator.return()
  } }.return)
  const lazily = (iterator, generate) => {
    const next = iterator.next
    const helper = Object.create(helpers)
    const source = { *[Symbol.iterator]() {
      let isOver = false
      try {
        for (;;) {
          isOver = true // An error of next closes nothing.
          const result = step(next, iterator)
          if (result.done) return
          const value = result.value
          isOver = false
          yield value
        }
      } finally {
        if (!isOver) iterator.return?.()
      }
    } }
    states.set(helper, { iterator, generator: generate(source) })
    return helper
  }
  const iteratorOf = (value) => {
    const made = value[Symbol.iterator]?.() ?? value
    if (!isObject(made)) throw new TypeError('what is iterated must have an iterator')
    return made
  }

  function Iterator() {
    if (new.target === undefined || new.target === Iterator) throw new TypeError('Iterator is there to be extended')
  }
  Object.defineProperty(Iterator, 'prototype', { value: iterators })
  method(iterators, 'constructor', Iterator)
  if (!iterators[Symbol.toStringTag]) {
    Object.defineProperty(iterators, Symbol.toStringTag, { value: 'Iterator', writable: true, configurable: true })
  }

  return {
    'Promise.withResolvers': { withResolvers() {
      let resolve, reject
      const promise = new this((...functions) => { [resolve, reject] = functions })
      return { promise, resolve, reject }
    } }.withResolvers,
    'Promise.try': { try(called, ...values) {
      return new this((resolve) => resolve(called(...values)))
    } }.try,
    'Object.groupBy': { groupBy(items, keyOf) {
      const found = Object.create(null)
      groups(items, keyOf, (key, item) => {
        const name = typeof key === 'symbol' ? key : `${key}`
        found[name] ? found[name].push(item) : found[name] = [item]
      })
      return found
    } }.groupBy,
    'Map.groupBy': { groupBy(items, keyOf) {
      const found = new Map()
      groups(items, keyOf, (key, item) => found.has(key) ? found.get(key).push(item) : found.set(key, [item]))
      return found
    } }.groupBy,
    'Array.fromAsync': { async fromAsync(items, mapped, self) {
      if (mapped !== undefined) needFunction(mapped)
      const isConstructor = typeof this === 'function' && this !== Array
      const method = items[Symbol.asyncIterator] ?? items[Symbol.iterator]
      let n = 0
      if (method === undefined || method === null) {
        const length = Math.max(0, Math.trunc(Number(items.length)) || 0)
        const made = isConstructor ? new this(length) : []
        for (; n < length; n++) {
          const value = await items[n]
          made[n] = mapped ? await mapped.call(self, value, n) : value
        }
        made.length = n
        return made
      }
      const made = isConstructor ? new this() : []
      const iterator = method.call(items)
      const isAsync = items[Symbol.asyncIterator] !== undefined && items[Symbol.asyncIterator] !== null
      const next = iterator.next
      for (; ; n++) {
        const result = await next.call(iterator)
        if (!isObject(result)) throw new TypeError('what an iterator returns must be an object')
        if (result.done) break
        try {
          const value = isAsync ? result.value : await result.value
          made[n] = mapped ? await mapped.call(self, value, n) : value
        } catch (error) {
          try { await iterator.return?.() } catch { /* The first error is the one that counts. */ }
          throw error
        }
      }
      made.length = n
      return made
    } }.fromAsync,
    'Iterator.from': { from(value) {
      if (!isObject(value) && typeof value !== 'string') throw new TypeError('what is iterated must be an object or a text')
      const iterator = iteratorOf(value)
      return iterators.isPrototypeOf(iterator) ? iterator : lazily(iterator, function* (all) { yield* all })
    } }.from,
    'Iterator.prototype.map': { map(called) {
      functionFor(receiver(this), called)
      return lazily(this, function* (all) { let n = 0; for (const one of all) yield called(one, n++) })
    } }.map,
    'Iterator.prototype.filter': { filter(called) {
      functionFor(receiver(this), called)
      return lazily(this, function* (all) { let n = 0; for (const one of all) if (called(one, n++)) yield one })
    } }.filter,
    'Iterator.prototype.flatMap': { flatMap(called) {
      functionFor(receiver(this), called)
      return lazily(this, function* (all) {
        let n = 0
        for (const one of all) {
          const inner = called(one, n++)
          if (!isObject(inner)) throw new TypeError('what flatMap is given must be iterable')
          const iterator = iteratorOf(inner)
          yield* { [Symbol.iterator]: () => iterator }
        }
      })
    } }.flatMap,
    'Iterator.prototype.take': { take(limit) {
      const most = limitFor(receiver(this), limit)
      return lazily(this, function* (all) {
        const iterator = all[Symbol.iterator]()
        try {
          for (let n = 0; n < most; n++) {
            const result = iterator.next()
            if (result.done) return
            yield result.value
          }
        } finally {
          iterator.return()
        }
      })
    } }.take,
    'Iterator.prototype.drop': { drop(limit) {
      const most = limitFor(receiver(this), limit)
      return lazily(this, function* (all) { let n = 0; for (const one of all) if (n++ >= most) yield one })
    } }.drop,
    'Iterator.prototype.toArray': { toArray() {
      const all = []
      visited(receiver(this), (one) => { all.push(one) })
      return all
    } }.toArray,
    'Iterator.prototype.forEach': { forEach(called) {
      functionFor(receiver(this), called)
      visited(this, (one, n) => { called(one, n) })
    } }.forEach,
    'Iterator.prototype.some': { some(called) {
      functionFor(receiver(this), called)
      return visited(this, (one, n) => called(one, n) ? { value: true } : undefined) ?? false
    } }.some,
    'Iterator.prototype.every': { every(called) {
      functionFor(receiver(this), called)
      return visited(this, (one, n) => called(one, n) ? undefined : { value: false }) ?? true
    } }.every,
    'Iterator.prototype.find': { find(called) {
      functionFor(receiver(this), called)
      return visited(this, (one, n) => called(one, n) ? { value: one } : undefined)
    } }.find,
    'Iterator.prototype.reduce': { reduce(called, ...initial) {
      functionFor(receiver(this), called)
      let [total] = initial, isFirst = initial.length === 0
      visited(this, (one, n) => {
        total = isFirst ? one : called(total, one, n)
        isFirst = false
      })
      if (isFirst) throw new TypeError('reduce of nothing needs a first value')
      return total
    } }.reduce,
    Iterator,
  }
})
