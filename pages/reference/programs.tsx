import { Code } from './code.tsx';
import type { ExampleOperation } from './graph-operation.ts';
import type { Language } from './highlight.ts';

/**
 * Example programs that send a request and print the response. All example programs send the same request, but each
 * program uses a different programming language.
 */
interface Programs {
  curl: string;
  typeScript: string;
  python: string;
}

const languages: { name: string; language: Language; of: keyof Programs }[] = [
  { name: 'curl', language: 'sh', of: 'curl' },
  { name: 'TypeScript', language: 'ts', of: 'typeScript' },
  { name: 'Python', language: 'python', of: 'python' },
];

/** The first lines of all example programs, which set the address of the gateway and the API key. */
export const preparation: Programs = {
  curl: 'export GATEWAY=http://127.0.0.1:3000 KEY=pms_…',
  typeScript: "const gateway = 'http://127.0.0.1:3000';\nconst key = process.env.KEY!;",
  python: 'import os\nimport requests\n\ngateway = "http://127.0.0.1:3000"\nkey = os.environ["KEY"]',
};

/** Shows the example programs for a request. When the page opens, only the first example program is expanded. */
export const ProgramList = ({ programs, of }: { programs: Programs; of: string }) => (
  <>
    {languages.map(({ name, language, of: kind }, index) => (
      <details open={index === 0}>
        <summary>{name}</summary>
        <Code text={programs[kind]} label={`${of} in ${name}`} language={language} />
      </details>
    ))}
  </>
);

/** Converts a name to snake case: `locationId` → `location_id` */
const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const indented = (text: string, indent: string) => text.replaceAll('\n', `\n${indent}`);

const jsonOf = (value: unknown) => JSON.stringify(value, null, 2);

const pythonWords: Record<string, string> = { true: 'True', false: 'False', null: 'None' };

/** Returns a value as a Python literal. Strings in Python have the same syntax as strings in JSON. */
const pythonOf = (value: unknown) =>
  JSON.stringify(value, null, 4).replace(
    /"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g,
    (token) => pythonWords[token] ?? token,
  );

const inShell = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/**
 * Returns the example programs that send a REST request.
 *
 * @param path the path of the endpoint, with parameters in braces
 */
export function restPrograms(method: string, path: string, body: unknown): Programs {
  const withParameters = (text: (name: string) => string) =>
    path.replace(/\{(\w+)\}/g, (_, name: string) => text(name));
  const hasBody = body !== undefined;
  return {
    curl: [
      `curl ${method === 'GET' ? '' : `-X ${method} `}"$GATEWAY/api${withParameters((name) => `$${snakeCase(name).toUpperCase()}`)}"`,
      '  -H "X-API-Key: $KEY"',
      ...(hasBody ? ["  -H 'Content-Type: application/json'", `  -d ${inShell(jsonOf(body))}`] : []),
    ].join(' \\\n'),
    typeScript: [
      `const response = await fetch(\`\${gateway}/api${withParameters((name) => `\${${name}}`)}\`, {`,
      ...(method === 'GET' ? [] : [`  method: '${method}',`]),
      `  headers: { 'X-API-Key': key${hasBody ? ", 'Content-Type': 'application/json'" : ''} },`,
      ...(hasBody ? [`  body: JSON.stringify(${indented(jsonOf(body), '  ')}),`] : []),
      '});',
      'console.log(response.status, await response.text());',
    ].join('\n'),
    python: [
      `response = requests.${method.toLowerCase()}(`,
      `    f"{gateway}/api${withParameters((name) => `{${snakeCase(name)}}`)}",`,
      '    headers={"X-API-Key": key},',
      ...(hasBody ? [`    json=${indented(pythonOf(body), '    ')},`] : []),
      ')',
      'print(response.status_code, response.text)',
    ].join('\n'),
  };
}

/**
 * Returns the example programs that send a GraphQL request. For a subscription, the example programs read the response
 * as a stream of server-sent events.
 */
export function graphPrograms({ query, variables }: ExampleOperation): Programs {
  const isStream = query.startsWith('subscription');
  const hasVariables = Object.keys(variables).length > 0;
  return {
    curl: [
      `curl ${isStream ? '-N ' : ''}"$GATEWAY/graphql"`,
      '  -H "X-API-Key: $KEY"',
      "  -H 'Content-Type: application/json'",
      ...(isStream ? ["  -H 'Accept: text/event-stream'"] : []),
      `  -d ${inShell(jsonOf({ query, ...(hasVariables && { variables }) }))}`,
    ].join(' \\\n'),
    typeScript: [
      `const query = \`${query}\`;`,
      ...(hasVariables ? [`const variables = ${jsonOf(variables)};`] : []),
      'const response = await fetch(`${gateway}/graphql`, {',
      "  method: 'POST',",
      `  headers: { 'X-API-Key': key, 'Content-Type': 'application/json'${isStream ? ", Accept: 'text/event-stream'" : ''} },`,
      `  body: JSON.stringify({ query${hasVariables ? ', variables' : ''} }),`,
      '});',
      ...(isStream
        ? [
            'for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {',
            '  console.log(part);',
            '}',
          ]
        : ['console.log(await response.json());']),
    ].join('\n'),
    python: [
      `query = """${query}"""`,
      ...(hasVariables ? [`variables = ${pythonOf(variables)}`] : []),
      'response = requests.post(',
      '    f"{gateway}/graphql",',
      `    headers={"X-API-Key": key${isStream ? ', "Accept": "text/event-stream"' : ''}},`,
      `    json={"query": query${hasVariables ? ', "variables": variables' : ''}},`,
      ...(isStream ? ['    stream=True,'] : []),
      ')',
      ...(isStream
        ? ['for line in response.iter_lines(decode_unicode=True):', '    print(line)']
        : ['print(response.json())']),
    ].join('\n'),
  };
}
