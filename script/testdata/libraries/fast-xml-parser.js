const { XMLParser, XMLBuilder, XMLValidator } = require('fast-xml-parser')
const xml = '<?xml version="1.0"?><order id="7" paid="true"><item sku="a">tea &amp; milk</item><item sku="b"><![CDATA[<b>]]></item><sum>3.50</sum><empty/><!-- no --></order>'
return [
  () => new XMLParser().parse(xml),
  () => new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '@', parseAttributeValue: true }).parse(xml),
  () => new XMLParser({ preserveOrder: true, commentPropName: '#comment', cdataPropName: '#cdata' }).parse(xml),
  () => new XMLParser({ isArray: (name) => name === 'sum', numberParseOptions: { leadingZeros: false, hex: true } }).parse('<a><sum>007</sum><b>0x1F</b><c>1e3</c><d>+43</d></a>'),
  () => new XMLBuilder({ ignoreAttributes: false, format: true }).build({ a: { '@_id': 1, b: ['x', '<y>'], c: null, d: { '#text': 'ü' } } }),
  () => XMLValidator.validate('<a><b></a>'),
  () => XMLValidator.validate('<a x=1></a>'),
  () => XMLValidator.validate('<a/>'),
  () => new XMLParser().parse('<a><b></a>'),
  () => new XMLParser({ htmlEntities: true, removeNSPrefix: true }).parse('<n:a xmlns:n="u">&copy;&#8364;&#x1F600;</n:a>'),
  () => new XMLParser({ stopNodes: ['a.raw'], trimValues: false }).parse('<a><raw><b>x</b></raw> y </a>'),
]
