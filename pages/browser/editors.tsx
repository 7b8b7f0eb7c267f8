/** @jsxImportSource react */
import { useEditorContext, useExecutionContext } from '@graphiql/react';
import { useEffect } from 'react';

/**
 * Makes the text editors of GraphiQL usable with a keyboard and a screen reader. On a small screen, the response is
 * below the operation. The component `Editors` therefore scrolls the page to the response when an operation starts.
 *
 * @param props.cursor the position of the text cursor in the form that the page shows until the text editors are loaded
 */
export function Editors({ cursor }: { cursor: number | undefined }) {
  const { queryEditor, variableEditor, responseEditor } = useEditorContext({ nonNull: true });
  const { isFetching } = useExecutionContext({ nonNull: true });

  useEffect(() => {
    const labels = [
      [queryEditor, 'Operation'],
      [variableEditor, 'Variables'],
      [responseEditor, 'Answer'],
    ] as const;
    for (const [editor, label] of labels) {
      editor?.setOption('screenReaderLabel', label);
      if (editor) editor.getScrollerElement().tabIndex = 0; // a user can now scroll the editor with the keyboard
      // This key map makes the editor ignore the Tab key, so the browser moves the focus out of the editor. If the
      // editor handled the Tab key, a user without a mouse could not leave the editor (WCAG 2.1.2).
      editor?.addKeyMap({ Tab: false, 'Shift-Tab': false });
    }
  }, [queryEditor, variableEditor, responseEditor]);

  useEffect(() => {
    if (!queryEditor || cursor === undefined) return undefined;
    const place = () => {
      if (queryEditor.getValue() === '') return; // set the cursor only after GraphiQL has filled the query editor
      queryEditor.off('change', place);
      queryEditor.focus();
      queryEditor.setCursor(queryEditor.posFromIndex(cursor));
    };
    queryEditor.on('change', place);
    place();
    return () => queryEditor.off('change', place);
  }, [queryEditor, cursor]);

  useEffect(() => {
    if (isFetching) document.querySelector('.graphiql-response')?.scrollIntoView({ block: 'nearest' });
  }, [isFetching]);

  return null;
}
