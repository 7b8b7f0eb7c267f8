/** @jsxImportSource react */
// In the browser bundle, this module replaces framer-motion, which GraphiQL imports. GraphiQL uses only two components
// of framer-motion, for tabs that users can drag. If the bundle contained all of framer-motion, this library would make
// up a tenth of the page's size.
import { Children, cloneElement, isValidElement, type ReactElement, type ReactNode, type Ref } from 'react';

interface ListProps {
  children: ReactNode;
  className?: string;
  ref?: Ref<HTMLUListElement>;
}

interface ItemProps {
  /** The two buttons of a tab: a button that opens the tab, and a button that closes it. */
  children: ReactNode;
  className?: string;
  'aria-selected'?: boolean;
  ref?: Ref<HTMLLIElement>;
}

/**
 * The list of tabs. The tabs are a list of buttons, not an ARIA tab list. In ARIA, a tab must not contain another
 * control, such as a close button.
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

/**
 * GraphiQL shows the tabs of the explorer with the components `Group` and `Item`. `Group` and `Item` have these names,
 * because GraphiQL uses `Reorder.Group` and `Reorder.Item` of framer-motion.
 */
export const Reorder = { Group, Item };
