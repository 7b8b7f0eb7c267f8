import { offerCopies } from './copy.ts';

/**
 * The entries of the API reference, and the navigation links to these entries. The attribute `data-search` of each
 * element contains the searchable text of the element.
 */
const searchable = document.querySelectorAll<HTMLElement>('[data-search]');
const groups = document.querySelectorAll<HTMLElement>('[data-group]');
const sections = document.querySelectorAll<HTMLDetailsElement>('details.section');
const field = document.getElementById('search') as HTMLInputElement;
const nothing = document.getElementById('nothing-found') as HTMLElement;

/**
 * Shows only the entries of the API reference that contain every word in the search field. The function hides each
 * group of entries in which no entry is visible.
 */
function filter(): void {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length > 0) for (const section of sections) section.open = true;
  let found = 0;
  for (const element of searchable) {
    const text = element.dataset.search!;
    element.hidden = !words.every((word) => text.includes(word));
    if (!element.hidden) found += 1;
  }
  for (const group of groups) {
    group.hidden = words.length > 0 && !group.querySelector('[data-search]:not([hidden])');
  }
  nothing.hidden = found > 0;
}

field.addEventListener('input', filter);
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || document.activeElement === field) return;
  event.preventDefault();
  field.focus();
});
filter();

/**
 * If the page address links to an entry of the API reference, opens the section that contains this entry. The part of
 * the page address after `#` is the id of this API reference entry.
 */
function openTarget(): void {
  const target = document.getElementById(location.hash.slice(1));
  const section = target?.closest('details.section') as HTMLDetailsElement | null | undefined;
  if (!section || section.open) return;
  section.open = true;
  target?.scrollIntoView();
}

// On a phone, all sections are closed at first, because the page would be a hundred screens long if all sections were
// open.
if (matchMedia('(max-width: 760px)').matches) for (const section of sections) section.open = false;
openTarget();
addEventListener('hashchange', openTarget);

const links = new Map(
  [...document.querySelectorAll<HTMLAnchorElement>('.contents li a')].map((link) => [
    link.hash.slice(1),
    link,
  ]),
);

/** Marks the navigation link to the entry of the API reference that the user is reading. */
function mark(id: string): void {
  for (const link of links.values()) link.removeAttribute('aria-current');
  const link = links.get(id);
  link?.setAttribute('aria-current', 'location');
  if (getComputedStyle(contents).position === 'sticky') link?.scrollIntoView({ block: 'nearest' });
}

const contents = document.querySelector('.contents')!;
// The user probably reads the entry whose distance from the top of the window is 15 % of the window's height.
const reading = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) mark(target.id);
  },
  { rootMargin: '-15% 0px -84% 0px' },
);
for (const article of document.querySelectorAll('article')) reading.observe(article);

offerCopies();
