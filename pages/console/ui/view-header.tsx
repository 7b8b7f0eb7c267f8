/** @jsxImportSource react */
import { type ReactNode, useEffect, useRef } from 'react';
import type { ShownOperation } from '../graph/use-view.ts';
import { texts } from '../texts.ts';
import { AsGraphql } from './as-graphql.tsx';

/**
 * The header of a console view (a screen). The view header contains the title, buttons for actions, and a button that
 * opens the query of the view in the explorer. When the view opens, its title gets the keyboard focus, and becomes the
 * title of the page.
 */
export function ViewHeader(props: {
  title: string;
  operation?: ShownOperation | undefined;
  children?: ReactNode;
}) {
  const { title, operation, children } = props;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  useEffect(() => {
    document.title = texts.views.pageTitle(title);
  }, [title]);
  return (
    <header className="view-header">
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      <div className="view-actions">
        {children}
        {operation && <AsGraphql operation={operation} />}
      </div>
    </header>
  );
}
