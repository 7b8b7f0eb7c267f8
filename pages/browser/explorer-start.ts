import { createExamples } from './examples.ts';
import { answered, firstOperationForm } from './first-operation.ts';
import { linkedOperation } from './link.ts';
import { post } from './post.ts';

// At first, the explorer page shows a simple form, in which users can run an operation before GraphiQL has loaded. This
// script handles the simple form. GraphiQL replaces the simple form as soon as GraphiQL has loaded. On a phone, loading
// GraphiQL takes several seconds.

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
