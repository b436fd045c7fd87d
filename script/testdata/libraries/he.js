const he = require('he')
return [
  () => he.encode('foo © bar ≠ baz 𝌆 qux "\'<>&`'),
  () => he.encode('ü€😀', { useNamedReferences: true }),
  () => he.encode('ü😀', { decimal: true, encodeEverything: true }),
  () => he.decode('foo &copy; bar &ne; baz &#x1D306; qux &amp;lt; &notit; &Zfr;'),
  () => he.decode('&#128;&#x80;&#xD800;&#0;&#x110000;&ampx', { isAttributeValue: true }),
  () => he.decode('&#x80;', { strict: true }),
  () => he.decode('&nonsense;', { strict: true }),
  () => he.escape('<img src="x" onerror=\'a\'>') + he.unescape('&lt;&quot;&#39;'),
  () => he.encode('\0', { strict: true }),
]
