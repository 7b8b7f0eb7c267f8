/** @jsxImportSource react */
import 'graphiql/style.css';
import './explorer.css';
import { useEditorContext } from '@graphiql/react';
import { GraphiQL } from 'graphiql';
import { buildSchema, type GraphQLSchema } from 'graphql';
import { useEffect, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Editors } from './editors.tsx';
import { createExamples, fillVariables, type KeyReach } from './examples.ts';
import { takeOverForm } from './first-operation.ts';
import { FirstSteps } from './first-steps.tsx';
import { createFetcher } from './graph-client.ts';
import { bindKeyField, type KeyField } from './key-field.ts';
import { followTab, linkedOperation, offerLink } from './link.ts';

/** Fills the variables of every tab when another key reaches other ids. */
function FillVariables({ keyField }: { keyField: KeyField }) {
  const { tabs, activeTabIndex, moveTab, queryEditor, variableEditor } = useEditorContext({ nonNull: true });
  const [reach, setReach] = useState<KeyReach>();
  const former = useRef<KeyReach>(undefined);

  useEffect(() => {
    keyField.onChange((state) => {
      if (state.kind === 'valid' && state.reach) setReach(state.reach);
    });
  }, [keyField]);

  useEffect(() => {
    if (!reach || !queryEditor || !variableEditor || reach === former.current) return;
    // A tab follows its editor after a pause: until then `moveTab` would put the former text back into the editor.
    if ((tabs[activeTabIndex]?.query ?? '') !== queryEditor.getValue()) return;
    const fill = (text: string) => fillVariables(text, reach, former.current);
    const active = tabs[activeTabIndex];
    const filledActive = fill(variableEditor.getValue());
    moveTab(
      tabs.map((tab) =>
        tab === active || !tab.variables ? tab : { ...tab, variables: fill(tab.variables) },
      ),
    );
    variableEditor.setValue(filledActive);
    former.current = reach;
  }, [reach, tabs, activeTabIndex, moveTab, queryEditor, variableEditor]);

  return null;
}

function Explorer(props: {
  schema: GraphQLSchema;
  keyField: KeyField;
  early: Awaited<ReturnType<typeof takeOverForm>>;
}) {
  const { schema, keyField, early } = props;
  const [fetcher] = useState(() => createFetcher(keyField.current));
  const [{ query, variables }] = useState(linkedOperation);
  const [tabs] = useState(() =>
    createExamples(new Date()).map((example) => ({
      query: example.query,
      variables: example.variables ? JSON.stringify(example.variables, null, 2) : '',
    })),
  );
  return (
    <GraphiQL
      schema={schema}
      fetcher={fetcher}
      defaultTabs={tabs}
      query={early.query ?? query}
      variables={variables}
      {...(early.answer && { response: early.answer })}
      defaultEditorToolsVisibility="variables"
      isHeadersEditorEnabled={false}
      shouldPersistHeaders={false}
      forcedTheme="system"
      onTabChange={followTab}
    >
      <GraphiQL.Logo> </GraphiQL.Logo>
      <GraphiQL.Footer>
        <FirstSteps keyField={keyField} />
        <FillVariables keyField={keyField} />
        <Editors cursor={early.cursor} />
      </GraphiQL.Footer>
    </GraphiQL>
  );
}

const keyField = bindKeyField();
offerLink();
const sdl = await (await fetch('/graphql/schema.graphql')).text();
const schema = buildSchema(sdl);
const early = await takeOverForm();
createRoot(document.getElementById('explorer')!).render(
  <Explorer schema={schema} keyField={keyField} early={early} />,
);
