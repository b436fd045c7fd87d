const slugify = require('slugify')
return [
  () => slugify('Some String: with "marks" & €2.50'),
  () => slugify('Änderung über Größe', { lower: true, locale: 'de' }),
  () => slugify('Привет мир, ελληνικά łódź Đà Nẵng', { strict: true, lower: true }),
  () => slugify('a b_c*d', { replacement: '_', remove: /[*]/g, trim: false }),
  () => slugify('unicode ♥ is ☢ 中文 😀'),
  () => { slugify.extend({ '☢': 'radioactive' }); return slugify('☢ love') },
  () => slugify('  trim  me -- ', { trim: true }),
  () => slugify(7),
]
