const fns = require('date-fns')
const { de, ja } = require('date-fns/locale')
const at = new Date(Date.UTC(2026, 2, 28, 12, 34, 56, 789))
return [
  () => fns.format(at, "EEEE, do MMMM yyyy 'at' HH:mm:ss.SSS xxx"),
  () => ['P', 'PPPP', 'pp', 'Pp', 'RRRR-II', 'QQQ', 'DDD', 'bbbb', 'B', 't', 'T'].map((form) => fns.format(at, form, { useAdditionalDayOfYearTokens: true })),
  () => fns.format(at, 'PPPPpppp', { locale: de }) + fns.format(at, 'PPPP', { locale: ja }),
  () => fns.parse('24.12.2026 18:30', 'dd.MM.yyyy HH:mm', new Date(0)).toISOString(),
  () => fns.isValid(fns.parse('31.02.2026', 'dd.MM.yyyy', new Date(0))),
  () => fns.format(new Date(NaN), 'P'),
  () => { try { fns.format(at, 'YYYY') } catch (error) { return [error.name, error.message.slice(0, 80)] } },
  () => fns.parseISO('2026-W13-6T10:00:00+02:00').getTime(),
  () => fns.formatDistance(at, new Date(Date.UTC(2026, 3, 2)), { addSuffix: true, locale: de }),
  () => fns.formatDistanceStrict(at, new Date(Date.UTC(2025, 3, 2))),
  () => fns.intervalToDuration({ start: at, end: new Date(Date.UTC(2027, 5, 1)) }),
  () => fns.eachDayOfInterval({ start: at, end: fns.addDays(at, 3) }),
  () => [fns.differenceInBusinessDays(new Date(2026, 11, 24), at), fns.getISOWeek(at), fns.lastDayOfMonth(at), fns.addMonths(new Date(2026, 0, 31), 1)],
  () => fns.closestTo(at, [fns.subDays(at, 2), fns.addHours(at, 3)]),
  () => fns.formatRFC7231(at) + fns.formatISODuration({ hours: 2, minutes: 5 }),
  () => require('date-fns/format').format(at, 'yyyy-MM-dd'),
  () => require('date-fns/addBusinessDays').addBusinessDays(at, 5),
]
