/** How long a button shows that it has copied a text, in milliseconds. */
const saidForMs = 2000;

/** Copies a text to the clipboard. For a while, the button shows that the text was copied. */
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
 * Adds a copy button to each code block of the page. Nothing is added on insecure origins, where browsers allow no
 * access to the clipboard.
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
