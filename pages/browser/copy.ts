/** The time for which a copy button shows the result of a click (`Copied` or an error), in milliseconds. */
const saidForMs = 2000;

/**
 * Copies a text to the clipboard. Returns whether the text was copied to the clipboard. If the page was loaded with
 * HTTP and not from localhost, browsers allow no access to the clipboard, and `navigator.clipboard` is undefined.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Adds a click handler to a button. When the user clicks the button, the handler copies a text to the clipboard. After
 * a click, the button shows for two seconds whether the handler has copied the text.
 *
 * @param textOf a function that returns the text to copy; the handler calls this function at each click
 * @param refusal the label that the button shows if the handler could not copy the text
 */
export function bindCopyButton(button: HTMLButtonElement, textOf: () => string, refusal: string): void {
  const label = button.textContent;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const copy = async () => {
    const copied = await copyText(textOf());
    button.textContent = copied ? 'Copied' : refusal;
    clearTimeout(timer);
    timer = setTimeout(() => {
      button.textContent = label;
    }, saidForMs);
  };
  button.addEventListener('click', () => void copy());
}

/**
 * Adds a copy button to each code block of the page. If the browser gives the page no access to the clipboard, the
 * function adds no buttons.
 */
export function offerCopies(): void {
  if (!navigator.clipboard) return;
  for (const block of document.querySelectorAll('.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    const code = block.querySelector('pre')!;
    bindCopyButton(button, () => code.textContent ?? '', 'Not copied');
    block.append(button);
  }
}
