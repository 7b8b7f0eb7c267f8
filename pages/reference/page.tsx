import type { GraphQLSchema } from 'graphql';
import { createOpenApi, type OpenApi } from '../../rest/openapi.ts';
import { errorDescriptions, introduction } from '../../rest/openapi-text.ts';
import { errorCodes, errorStatus } from '../../src/errors/error-table.ts';
import type { BrowserFiles } from '../browser-files.ts';
import { Header } from '../header.tsx';
import { addresses, linkTo, renderDocument, version } from '../layout.tsx';
import { graphSections } from './graph-section.tsx';
import { Inline, Prose } from './markdown.tsx';
import type { Section } from './parts.tsx';
import { preparation, ProgramList } from './programs.tsx';
import { resolverOf, restSections } from './rest-section.tsx';
import { webhookSection } from './webhook-section.tsx';

/**
 * A part of the API reference, such as `REST`, which consists of several sections. The navigation of the API reference
 * shows the title of each of its parts.
 */
interface Part {
  title: string;
  sections: Section[];
}

/** Returns the chapters of the API reference's introduction, which explain the rules for all endpoints. */
function guideSections(): Section[] {
  const [first, ...chapters] = introduction.split(/^## /m);
  const entries = chapters.map((chapter) => {
    const [title, ...lines] = chapter.split('\n');
    return {
      id: `guide-${title!.toLowerCase().replace(/\W+/g, '-')}`,
      title: title!,
      search: chapter.toLowerCase(),
      content: (
        <div class="rest">
          <h3>{title}</h3>
          <Prose text={lines.join('\n')} />
        </div>
      ),
    };
  });
  return [
    {
      id: 'guide',
      title: 'For every request',
      about: first,
      entries: [...entries, errorEntry(), programsEntry()],
    },
  ];
}

function programsEntry() {
  return {
    id: 'programs',
    title: 'Programs',
    search: 'programs examples curl typescript python requests fetch',
    content: (
      <div class="rest">
        <h3>Programs</h3>
        <Prose text="Each operation has an example in curl, TypeScript (Node) and Python ([requests](https://requests.readthedocs.io)), for REST and for GraphQL. Each example begins with these lines, which set the address of the gateway and the API key:" />
        <ProgramList programs={preparation} of="Beginning" />
      </div>
    ),
  };
}

function errorEntry() {
  return {
    id: 'errors',
    title: 'Errors',
    search: `errors ${errorCodes.join(' ')} ${Object.values(errorDescriptions).join(' ')}`.toLowerCase(),
    content: (
      <div class="rest">
        <h3>Errors</h3>
        <Prose text="A REST error has a status and `error.code`, and a GraphQL error has `errors[].extensions.code`. An error also has `details` if more information helps the client to correct the request." />
        <table>
          <thead>
            <tr>
              <th>Code</th>
              <th>Status</th>
              <th>When</th>
            </tr>
          </thead>
          <tbody>
            {errorCodes.map((code) => (
              <tr>
                <td>
                  <code>{code}</code>
                </td>
                <td>{errorStatus[code]}</td>
                <td>
                  <Inline text={errorDescriptions[code]} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    ),
  };
}

function partsOf(schema: GraphQLSchema, openApi: OpenApi): Part[] {
  const resolve = resolverOf(openApi);
  return [
    { title: 'Guide', sections: guideSections() },
    { title: 'REST', sections: restSections(schema, openApi, resolve) },
    { title: 'Graph', sections: graphSections(schema) },
    { title: 'Webhooks', sections: [webhookSection(openApi, resolve)] },
  ];
}

/**
 * Renders the page of the API reference for REST and GraphQL. For each REST endpoint, the page also shows the
 * equivalent GraphQL document.
 */
export function renderReference(schema: GraphQLSchema, files: BrowserFiles): string {
  const parts = partsOf(schema, createOpenApi(schema));
  return renderDocument({
    title: 'Reference · Parking gateway',
    description: 'Every REST endpoint with the GraphQL operation that the endpoint runs.',
    styles: [files.addressOf('page.css')],
    scripts: [files.addressOf('reference.js')],
    content: (
      <>
        <Header current={addresses.reference} />
        <div class="reference">
          <nav class="contents" aria-label="Contents">
            <a class="brand" href={linkTo(addresses.home)}>
              Parking gateway
            </a>
            <p class="version">Version {version}</p>
            <input id="search" type="search" placeholder="Search  ( / )" aria-label="Search the reference" />
            {parts.map(({ title, sections }) => (
              <div data-group>
                <h2>{title}</h2>
                {sections.map((section) => (
                  <details open data-group>
                    <summary>{section.title}</summary>
                    <ul>
                      {section.entries.map((entry) => (
                        <li data-search={entry.search}>
                          <a href={`#${entry.id}`}>{entry.title}</a>
                        </li>
                      ))}
                    </ul>
                  </details>
                ))}
              </div>
            ))}
          </nav>
          <main id="content">
            <header>
              <h1>Reference</h1>
              <p>
                <a href={linkTo(addresses.explorer)}>Explorer</a>{' '}
                <a href={linkTo(addresses.guide)}>Moving to GraphQL</a>{' '}
                <a href={linkTo(addresses.schema)}>schema.graphql</a>{' '}
                <a href={linkTo(addresses.openApi)}>openapi.json</a>
              </p>
            </header>
            <p id="nothing-found" hidden>
              Nothing has all of these words.
            </p>
            {parts.flatMap(({ sections }) =>
              sections.map((section) => (
                <section id={section.id} data-group>
                  <details class="section" open>
                    <summary>
                      <h2>{section.title}</h2>
                    </summary>
                    {section.about && <Prose text={section.about} />}
                    {section.entries.map((entry) => (
                      <article id={entry.id} data-search={entry.search}>
                        {entry.content}
                      </article>
                    ))}
                  </details>
                </section>
              )),
            )}
          </main>
        </div>
      </>
    ),
  });
}
