/** @jsxImportSource react */
// The build gives this module to GraphiQL instead of framer-motion. GraphiQL uses only two components of that library,
// for tabs that can be dragged. The whole library would be a tenth of the page.
import { Children, cloneElement, isValidElement, type ReactElement, type ReactNode, type Ref } from 'react';

interface ListProps {
  children: ReactNode;
  className?: string;
  ref?: Ref<HTMLUListElement>;
}

interface ItemProps {
  /** The two buttons of a tab. The first opens the tab, and the second closes it. */
  children: ReactNode;
  className?: string;
  'aria-selected'?: boolean;
  ref?: Ref<HTMLLIElement>;
}

/**
 * This is a list of buttons and not an ARIA tab list. A tab may not contain another control, such as a close button.
 */
const Group = ({ children, className, ref }: ListProps) => (
  <ul ref={ref} className={className} aria-label="Operations">
    {children}
  </ul>
);

const Item = ({ children, className, ref, 'aria-selected': isCurrent }: ItemProps) => {
  const [open, ...others] = Children.toArray(children);
  return (
    <li ref={ref} className={className}>
      {isValidElement(open)
        ? cloneElement(open as ReactElement<{ 'aria-current'?: boolean }>, {
            'aria-current': isCurrent ?? false,
          })
        : open}
      {others}
    </li>
  );
};

/** The list of tabs and a tab of the explorer, under the names that GraphiQL imports from framer-motion. */
export const Reorder = { Group, Item };
