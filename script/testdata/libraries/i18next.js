const i18next = require('i18next')
const made = (options) => {
  const one = i18next.createInstance()
  one.init({
    lng: 'en', fallbackLng: 'en', initAsync: false, showSupportNotice: false, resources: {
      en: { translation: { hello: 'Hello {{name}}', item_one: '{{count}} item', item_other: '{{count}} items', nest: '$t(hello, {"name": "you"})!', deep: { a: 'b' }, friend_male: 'boyfriend', list: ['x', 'y'], raw: '{{- html}} {{html}}' }, other: { x: 'ns' } },
      de: { translation: { hello: 'Hallo {{name, uppercase}}' } },
    }, interpolation: { format: (value, format) => (format === 'uppercase' ? value.toUpperCase() : value) }, ...options,
  })
  return one
}
return [
  () => made().t('hello', { name: 'Ada' }),
  () => made({ lng: 'de' }).t('hello', { name: 'Ada' }),
  () => made({ lng: 'de' }).t('deep.a') + made().t('other:x', { ns: 'other' }),
  () => made().t('nest'),
  () => [made().t('missing'), made().t('missing', 'default'), made().t(['no', 'deep.a'])],
  () => made().t('friend', { context: 'male' }),
  () => [made().t('list', { returnObjects: true }), made().t('deep', { returnObjects: true }), made().t('list', { joinArrays: '+' })],
  () => made().t('raw', { html: '<b>&"/' }),
  async () => { const one = made(); await one.changeLanguage('de'); return [one.language, one.languages, one.t('hello', { name: 'x' }), one.dir('ar'), one.exists('nope')] },
  () => { const one = made(); one.addResourceBundle('fr', 'translation', { hello: 'Bonjour' }); return one.getFixedT('fr')('hello') },
  () => [0, 1, 2].map((count) => made().t('item', { count })),
]
