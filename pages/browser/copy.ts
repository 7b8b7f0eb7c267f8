/** How long the copy button shows that the text was copied, in milliseconds. */
const saidForMs = 2000;

/** Copies a text to the clipboard. For two seconds, the copy button shows whether the text was copied. */
export async function copyWith(button: HTMLButtonElement, text: string, refusal: string): Promise<void> {
  const label = button.textContent;
  const copied = await navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
  button.textContent = copied ? 'Copied' : refusal;
  setTimeout(() => {
    button.textContent = label;
  }, saidForMs);
}

/**
 * Adds a copy button to each code block of the page. On an insecure origin (HTTP, except on localhost) no button is
 * added, because browsers allow no access to the clipboard there.
 */
export function offerCopies(): void {
  if (!navigator.clipboard) return;
  for (const block of document.querySelectorAll('.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    const code = block.querySelector('pre')!;
    button.addEventListener('click', () => void copyWith(button, code.textContent ?? '', 'Not copied'));
    block.append(button);
  }
}
