import type { Child } from 'hono/jsx';
import { addresses, linkTo } from './layout.tsx';

/** The links in the header of a page, in the order in which they appear. */
const headerLinks = [
  { address: addresses.console, name: 'Console' },
  { address: addresses.explorer, name: 'Explorer' },
  { address: addresses.reference, name: 'Reference' },
  { address: addresses.guide, name: 'Guide' },
];

/**
 * The header of every page, with links to the start page and to the other pages.
 *
 * @param props.current the address of the current page
 * @param props.children additional content of the header, such as the field for the API key
 */
export function Header({ current, children }: { current: string; children?: Child }) {
  return (
    <header class="site-header">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <a class="brand" href={linkTo(addresses.home)}>
        <span class="brand-mark" aria-hidden="true">
          P
        </span>
        Parking gateway
      </a>
      <nav aria-label="Pages">
        {headerLinks.map(({ address, name }) => (
          <a href={linkTo(address)} aria-current={address === current ? 'page' : undefined}>
            {name}
          </a>
        ))}
      </nav>
      {children}
    </header>
  );
}
