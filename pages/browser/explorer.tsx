/** @jsxImportSource react */
import 'graphiql/style.css';
import './explorer.css';
import { useEditorContext } from '@graphiql/react';
import { GraphiQL } from 'graphiql';
import { buildSchema, type GraphQLSchema } from 'graphql';
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Editors } from './editors.tsx';
import { fillVariables, type ExampleValues } from './example-variables.ts';
import { createExamples } from './examples.ts';
import { firstOperationForm, takeOverForm } from './first-operation.ts';
import { loadFilledValues, storeFilledValues } from './filled-values.ts';
import { FirstSteps } from './first-steps.tsx';
import { createFetcher } from './graph-client.ts';
import { bindKeyField, type KeyField } from './key-field.ts';
import { followTab, linkedOperation, offerLink } from './link.ts';
import { graphPath } from './post.ts';
import { deviceStorage } from './storage.ts';

/**
 * Fills the variables of the active tab with a location and a plate in the scope of the API key. When the user changes
 * the API key or opens another tab, the explorer fills the variables again.
 */
function FillVariables({ keyField }: { keyField: KeyField }) {
  const { tabs, activeTabIndex, variableEditor } = useEditorContext({ nonNull: true });
  const [values, setValues] = useState<ExampleValues>();
  const [filled] = useState(loadFilledValues);
  const [valuesOfTab] = useState(() => new Map<string, ExampleValues>());
  const tabId = tabs[activeTabIndex]?.id;

  useEffect(() => {
    keyField.onChange((state) => {
      if (state.kind === 'valid' && state.exampleValues) setValues(state.exampleValues);
    });
  }, [keyField]);

  useEffect(() => {
    if (!values || !variableEditor || !tabId) return;
    if (valuesOfTab.get(tabId) === values) return;
    valuesOfTab.set(tabId, values);
    const before = variableEditor.getValue();
    const after = fillVariables(before, values, filled.get(tabId));
    // The explorer changes only the text of the variable editor. The GraphiQL function `moveTab` would also replace the
    // texts of the other editors, reset the text cursor, and delete the response from the simple form. The explorer
    // therefore does not call `moveTab`.
    if (after.text !== before) {
      // `setValue` moves the text cursor to the start of the text. The explorer restores the cursor, because the user
      // may be typing in the editor.
      const selections = variableEditor.listSelections();
      variableEditor.setValue(after.text);
      variableEditor.setSelections(selections, undefined, { scroll: false });
    }
    filled.set(tabId, after.filled);
    storeFilledValues(filled, tabs);
  }, [values, tabId, tabs, variableEditor, filled, valuesOfTab]);

  return null;
}

function Explorer(props: {
  schema: GraphQLSchema;
  keyField: KeyField;
  early: Awaited<ReturnType<typeof takeOverForm>>;
}) {
  const { schema, keyField, early } = props;
  const [fetcher] = useState(() => createFetcher(keyField.current));
  const [linked] = useState(linkedOperation);
  const [tabs] = useState(() => {
    const examples = createExamples(new Date()).map((example) => ({
      query: example.query,
      variables: example.variables ? JSON.stringify(example.variables, null, 2) : '',
    }));
    if (!linked.query) return examples;
    // On the first visit of a user, GraphiQL ignores the properties `query` and `variables`, and opens the first tab in
    // `defaultTabs`. If the user opened a link, the explorer must therefore put the operation of the link into the
    // first tab.
    const first = { query: early.query ?? linked.query, variables: linked.variables ?? null };
    return [first, ...examples.filter(({ query }) => query !== linked.query)];
  });
  return (
    <GraphiQL
      schema={schema}
      fetcher={fetcher}
      defaultTabs={tabs}
      query={early.query ?? linked.query}
      variables={linked.variables}
      {...(early.answer && { response: early.answer })}
      defaultEditorToolsVisibility="variables"
      isHeadersEditorEnabled={false}
      shouldPersistHeaders={false}
      {...(!(deviceStorage instanceof Storage) && { storage: deviceStorage })}
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

/**
 * The number of seconds between a failed request for the GraphQL schema and the next attempt. If the response to a
 * failed request has the header `Retry-After`, the page waits for the time in this header before the next attempt.
 */
const retrySeconds = 10;

/**
 * Loads the GraphQL schema, and retries until the schema is loaded. After each failed attempt to load the schema, the
 * explorer shows the reason.
 */
async function loadSchema(): Promise<GraphQLSchema> {
  for (;;) {
    const response = await fetch(`${graphPath}/schema.graphql`).catch(() => undefined);
    // A response with status 200 can contain only a part of the schema, if the download was interrupted. A response
    // with status 200 can also be a web page that a proxy sent in place of the schema.
    const schema =
      response?.ok &&
      (await response
        .text()
        .then((text) => buildSchema(text))
        .catch(() => undefined));
    if (schema) return schema;
    const seconds = Number(response?.headers.get('Retry-After')) || retrySeconds;
    const fault = !response
      ? 'no connection'
      : response.ok
        ? 'incomplete schema'
        : `status ${response.status}`;
    firstOperationForm().note.textContent = `The schema could not be loaded (${fault}). The next attempt is in ${seconds} s.`;
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

const keyField = bindKeyField();
offerLink();
const schema = await loadSchema();
const early = await takeOverForm();
createRoot(document.getElementById('explorer')!).render(
  <Explorer schema={schema} keyField={keyField} early={early} />,
);
