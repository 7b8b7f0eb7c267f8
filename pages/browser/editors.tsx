/** @jsxImportSource react */
import { useEditorContext, useExecutionContext } from '@graphiql/react';
import { useEffect } from 'react';

/**
 * Makes the editors accessible, and shows the answer on screens where it is below the operation.
 *
 * @param props.cursor where the user was typing before the editors were there
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
      if (editor) editor.getScrollerElement().tabIndex = 0; // scrolls with the keyboard, too
    }
  }, [queryEditor, variableEditor, responseEditor]);

  useEffect(() => {
    if (!queryEditor || cursor === undefined) return undefined;
    const place = () => {
      if (queryEditor.getValue() === '') return; // GraphiQL fills it later
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
