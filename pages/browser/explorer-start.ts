import { createExamples } from './examples.ts';
import { answered, firstOperationForm } from './first-operation.ts';
import { linkedOperation } from './link.ts';
import { post } from './post.ts';

// This script makes the simple form of the page work immediately, so that users can already run an operation. GraphiQL
// takes seconds to load on a phone, and then replaces the form.

const { form, operation, answer } = firstOperationForm();
const linked = linkedOperation();
operation.defaultValue = linked.query ?? createExamples(new Date())[0]!.query;

async function run() {
  const key = (document.getElementById('key') as HTMLInputElement).value.trim();
  const variables: unknown = linked.variables ? JSON.parse(linked.variables) : undefined;
  return JSON.stringify(await post({ query: operation.value, variables }, key), null, 2);
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (form.ariaBusy === 'true') return;
  form.ariaBusy = 'true';
  void run()
    .catch((error: unknown) => String(error))
    .then((text) => {
      answer.textContent = text;
      form.ariaBusy = 'false';
      form.dispatchEvent(new Event(answered));
    });
});
form.querySelector('button')!.disabled = false;
