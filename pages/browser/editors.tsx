/** @jsxImportSource react */
import { useEditorContext, useExecutionContext } from '@graphiql/react';
import { useEffect } from 'react';

/**
 * Makes the editors accessible. On a small screen, the response is below the operation, so this component also scrolls
 * to the response.
 *
 * @param props.cursor the position of the cursor in the form that the page showed before the editors were loaded
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
      if (editor) editor.getScrollerElement().tabIndex = 0; // a focusable editor can be scrolled with the keyboard
    }
  }, [queryEditor, variableEditor, responseEditor]);

  useEffect(() => {
    if (!queryEditor || cursor === undefined) return undefined;
    const place = () => {
      if (queryEditor.getValue() === '') return; // GraphiQL fills the editor later
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
