/**
 * The content of the HTML form that the explorer shows while GraphiQL loads. When GraphiQL has loaded, the explorer
 * copies this content into GraphiQL.
 */
interface EarlyWork {
  /** The text of the operation in this form, or `undefined` if the user has not changed the text. */
  query: string | undefined;
  /** The text of the response to this operation. The text is empty if the user has not run the operation. */
  answer: string;
  /**
   * The position of the text cursor in the text of the operation, or `undefined` if the text field did not have the
   * focus.
   */
  cursor: number | undefined;
}

/** Returns the elements of the HTML form that the page shows while GraphiQL loads. */
export function firstOperationForm() {
  const form = document.getElementById('first-operation') as HTMLFormElement;
  const operation = form.querySelector('textarea')!;
  const answer = form.querySelector('pre')!;
  const note = form.querySelector('p')!;
  return { form, operation, answer, note };
}

/** The name of the DOM event that the form dispatches when the response to the operation has arrived. */
export const answered = 'answered';

/**
 * Returns the GraphQL operation, the response and the cursor position from the simple HTML form. If the user has sent
 * the operation with this form and the response has not arrived yet, the function first waits for the response.
 */
export async function takeOverForm(): Promise<EarlyWork> {
  const { form, operation, answer } = firstOperationForm();
  while (form.ariaBusy === 'true') {
    await new Promise((resolve) => form.addEventListener(answered, resolve, { once: true }));
  }
  return {
    query: operation.value === operation.defaultValue ? undefined : operation.value,
    answer: answer.textContent,
    cursor: document.activeElement === operation ? operation.selectionEnd : undefined,
  };
}
