const humanize = require('humanize-duration')
return [
  () => [0, 1, 999, 3000, 97320000, 2015488000000].map((ms) => humanize(ms)),
  () => ['de', 'fr', 'ru', 'ar', 'zh_TW', 'ja', 'pl', 'he'].map((language) => humanize(694861001, { language })),
  () => humanize(97320000, { units: ['h', 'm'], round: true, delimiter: ' and ' }),
  () => humanize(3600000, { spacer: '', largest: 1, maxDecimalPoints: 2 }) + humanize(8123.456789, { maxDecimalPoints: 2 }),
  () => humanize(1234567890, { conjunction: ' and ', serialComma: false }),
  () => humanize(1, { language: 'xx' }),
  () => humanize(1, { language: 'xx', fallbacks: ['en'] }),
  () => humanize.humanizer({ language: 'short', languages: { short: { y: () => 'y', mo: () => 'mo', w: () => 'w', d: () => 'd', h: () => 'h', m: () => 'm', s: () => 's', ms: () => 'ms' } }, spacer: '' })(15600000),
  () => humanize.getSupportedLanguages().length,
]
