/** @jsxImportSource react */
import { type ReactNode, useEffect, useRef } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { useKeptView } from '../navigation.ts';
import { texts } from '../texts.ts';
import { Button } from './controls.tsx';

/**
 * A dialog in front of the page. The keyboard focus stays in the dialog until the user closes the dialog. A button, the
 * key Escape, or a click beside the dialog closes the dialog.
 *
 * @param props.isKept if true, only a button closes the dialog, so that the user does not lose the dialog's content by
 *   mistake. If `isKept` is true, the browser's back button does not close the dialog either
 */
export function Panel(props: {
  title: string;
  onClose(): void;
  children: ReactNode;
  isKept?: boolean;
  wide?: boolean;
}) {
  const { title, onClose, children, isKept = false, wide = false } = props;
  const dialog = useRef<HTMLElement>(null);
  useKeptView(isKept);
  useEffect(() => {
    // When a form removes the button that has the focus, the browser moves the focus to the `body` element of the page.
    // The key Escape closes the dialog only while the focus is inside the dialog, so the dialog takes the focus back.
    if (document.activeElement === document.body) dialog.current?.focus();
  });
  return (
    <ModalOverlay
      className="overlay"
      isOpen
      isDismissable={!isKept}
      isKeyboardDismissDisabled={isKept}
      onOpenChange={(open) => open || onClose()}
    >
      <Modal className={wide ? 'modal wide' : 'modal'}>
        <Dialog className="dialog" ref={dialog}>
          <header className="dialog-header">
            <Heading slot="title">{title}</Heading>
            <Button look="quiet" aria-label={texts.state.close} onPress={onClose}>
              ✕
            </Button>
          </header>
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

/**
 * A dialog that asks the user to confirm an action that cannot be undone. While the console sends the request for the
 * action, only the button with the label **Close** closes the dialog.
 */
export function Confirmation(props: {
  question: string;
  action: string;
  sending: boolean;
  children?: ReactNode;
  onConfirm(): void;
  onClose(): void;
}) {
  const { question, action, sending, children, onConfirm, onClose } = props;
  return (
    <Panel title={question} onClose={onClose} isKept={sending}>
      {children}
      <footer className="dialog-footer">
        <Button isDisabled={sending} onPress={onClose}>
          {texts.state.cancel}
        </Button>
        <Button look="danger" isDisabled={sending} onPress={onConfirm}>
          {action}
        </Button>
      </footer>
    </Panel>
  );
}
