import { listedName } from './rules.ts';

/**
 * The time zone names that `Intl` accepts although they are not IANA names. For example, `Intl` interprets `BST` as the
 * time zone of Bangladesh, but a client that sends `BST` probably means British Summer Time.
 */
const otherTimeZone =
  /^(ACT|AET|AGT|ART|AST|BET|BST|CAT|CNT|CST|CTT|EAT|ECT|IET|IST|JST|MIT|NET|NST|PLT|PNT|PRT|PST|SST|VST|SystemV\/.*)$/i;

function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name) || otherTimeZone.test(name)) return false;
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}

/**
 * The words of time zone names whose letters are not one upper-case letter and then only lower-case letters, such as
 * `GMT`. The map contains only words from time zone names that `Intl` replaces with another name, such as `Etc/GMT`.
 */
const wordsOfLinks = new Map(
  [
    ...['CET', 'CST6CDT', 'EET', 'EST', 'EST5EDT', 'GMT', 'GMT0', 'HST', 'MET', 'MST', 'MST7MDT', 'PST8PDT'],
    ...['ACT', 'CHAT', 'GB', 'IN', 'LHI', 'NSW', 'NZ', 'PRC', 'ROC', 'ROK', 'SU', 'UCT', 'US', 'UTC', 'WET'],
    ...['BajaNorte', 'BajaSur', 'ComodRivadavia', 'DeNoronha', 'EasterIsland'],
  ].map((word) => [word.toLowerCase(), word]),
);

/**
 * Corrects the letter case of a time zone name, because `Intl` accepts names in any letter case. If the name is a link
 * (another name of a time zone, such as `US/Pacific`), the function does not replace it with the name to which the link
 * points. For many names, the function cannot use the name that `Intl` returns: for example, `Intl` replaces
 * `Asia/Kolkata` with `Asia/Calcutta`.
 */
function spelledTimeZone(name: string): string {
  const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
  const lowerCase = name.toLowerCase();
  if (timeZone.toLowerCase() === lowerCase) return timeZone;
  return lowerCase.replace(
    /[a-z0-9]+/g,
    (word) => wordsOfLinks.get(word) ?? word.charAt(0).toUpperCase() + word.slice(1),
  );
}

/** Validates the IANA name of a time zone, and corrects its letter case. */
export const timeZone = listedName(
  isTimeZone,
  'Must be an IANA time zone name, such as Asia/Dubai',
).transform(spelledTimeZone);
