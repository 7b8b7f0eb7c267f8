/** @jsxImportSource react */
import 'graphiql/style.css';
import './explorer.css';
import { useEditorContext } from '@graphiql/react';
import { GraphiQL } from 'graphiql';
import { buildSchema, type GraphQLSchema } from 'graphql';
import { useEffect, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { createExamples, fillVariables, type KeyReach } from './examples.ts';
import { createFetcher } from './graph-client.ts';
import { bindKeyField, type KeyField } from './key-field.ts';
import { followTab, linkedOperation, offerLink } from './link.ts';

/** Fills the variables of every tab when another key reaches other ids. */
function FillVariables({ keyField }: { keyField: KeyField }) {
  const { tabs, activeTabIndex, moveTab, variableEditor } = useEditorContext({ nonNull: true });
  const [reach, setReach] = useState<KeyReach>();
  const former = useRef<KeyReach>(undefined);

  useEffect(() => {
    keyField.onChange((state) => {
      if (state.kind === 'valid' && state.reach) setReach(state.reach);
    });
  }, [keyField]);

  useEffect(() => {
    if (!reach || !variableEditor || reach === former.current) return;
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
  }, [reach, tabs, activeTabIndex, moveTab, variableEditor]);

  return null;
}

function Explorer({ schema, keyField }: { schema: GraphQLSchema; keyField: KeyField }) {
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
      query={query}
      variables={variables}
      defaultEditorToolsVisibility="variables"
      isHeadersEditorEnabled={false}
      shouldPersistHeaders={false}
      forcedTheme="system"
      onTabChange={followTab}
    >
      <GraphiQL.Logo> </GraphiQL.Logo>
      <GraphiQL.Footer>
        <FillVariables keyField={keyField} />
      </GraphiQL.Footer>
    </GraphiQL>
  );
}

const keyField = bindKeyField();
offerLink();
const sdl = await (await fetch('/graphql/schema.graphql')).text();
createRoot(document.getElementById('explorer')!).render(
  <Explorer schema={buildSchema(sdl)} keyField={keyField} />,
);
