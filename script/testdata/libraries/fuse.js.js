const Fuse = require('fuse.js')
const books = [
  { title: "Old Man's War", author: { name: 'John Scalzi', tags: ['war', 'space'] } }, { title: 'The Lock Artist', author: { name: 'Steve Hamilton', tags: ['crime'] } },
  { title: 'HTML5', author: { name: 'Remy Sharp', tags: ['web'] } }, { title: 'Right Ho Jeeves', author: { name: 'P.D. Woodhouse', tags: ['humour'] } },
  { title: 'Käsekuchen für Anfänger', author: { name: 'Bärbel Müller', tags: ['food'] } },
]
return [
  () => new Fuse(books, { keys: ['title', 'author.name'] }).search('jon'),
  () => new Fuse(books, { keys: ['title'], includeScore: true, includeMatches: true, threshold: 0.4 }).search('rigt'),
  () => new Fuse(books, { keys: [{ name: 'title', weight: 0.7 }, { name: 'author.tags', weight: 0.3 }], includeScore: true }).search('war'),
  () => new Fuse(books, { keys: ['title'], ignoreDiacritics: true, includeScore: true }).search('kasekuchen'),
  () => new Fuse(books, { keys: ['title'], useExtendedSearch: true }).search("'man | ^html"),
  () => new Fuse(books, { keys: ['title', 'author.name'] }).search({ $and: [{ title: 'artist' }, { 'author.name': 'steve' }] }),
  () => new Fuse(['apple', 'orange', 'banana', 'pineapple'], { includeScore: true, distance: 10, location: 0 }).search('aple'),
  () => new Fuse(books, { keys: ['title'] }).search('zzzz'),
  () => Fuse.createIndex(['title'], books).toJSON(),
  () => { const fuse = new Fuse(['a']); fuse.add('ab'); fuse.remove((one) => one === 'a'); return fuse.search('a', { limit: 1 }) },
  () => new Fuse(books, { keys: [{ weight: 1 }] }),
]
