/** How an entry of the reference and the link to it in the navigation are marked for the search. */
const searchable = document.querySelectorAll<HTMLElement>('[data-search]');
const groups = document.querySelectorAll<HTMLElement>('[data-group]');
const field = document.getElementById('search') as HTMLInputElement;
const nothing = document.getElementById('nothing-found') as HTMLElement;

/** Shows what has every word of the search, and hides groups that have nothing left. */
function filter(): void {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
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
