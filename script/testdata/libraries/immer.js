const immer = require('immer')
const { produce } = immer
immer.enableMapSet()
immer.enablePatches()
const base = { todos: [{ text: 'a', done: false }, { text: 'b', done: false }], meta: { n: 1 } }
return [
  () => produce(base, (draft) => { draft.todos[1].done = true; draft.todos.push({ text: 'c' }) }),
  () => { const next = produce(base, (draft) => { draft.meta.n++ }); return [next.todos === base.todos, next.meta === base.meta, base.meta.n, Object.isFrozen(next.meta)] },
  () => produce(base, () => {}) === base,
  () => immer.produceWithPatches(base, (draft) => { draft.todos.splice(0, 1); delete draft.meta.n; draft.x = 1 }).slice(1),
  () => immer.applyPatches(base, [{ op: 'replace', path: ['meta', 'n'], value: 5 }, { op: 'add', path: ['todos', 0], value: 7 }]),
  () => produce(new Map([['a', new Set([1])]]), (draft) => { draft.get('a').add(2); draft.set('b', 3) }),
  () => produce((draft, by) => { draft.n += by })({ n: 1 }, 4),
  () => { const draft = immer.createDraft(base); draft.meta.n = 9; return [immer.isDraft(draft), immer.current(draft).meta, immer.original(draft) === base, immer.finishDraft(draft).meta] },
  () => produce({ a: 1 }, (draft) => { draft.a = 2; return { b: 1 } }),
  () => produce(7, (draft) => draft + 1),
  () => produce({ list: [3, 1, 2] }, (draft) => { draft.list.sort(); draft.list.reverse(); draft.list.length = 2 }),
  () => immer.applyPatches(base, [{ op: 'nonsense', path: ['meta'] }]),
]
