/** @jsxImportSource react */
import { Component, type ReactNode } from 'react';
import { texts } from '../texts.ts';
import { Button } from './controls.tsx';

/**
 * Shows a message instead of a view that has failed, for example because its scripts cannot be loaded. When one view of
 * the console fails, the other views still work.
 */
export class ViewBoundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <div className="notice bad" role="alert">
        <span>{texts.state.unloaded}</span>
        <Button onPress={() => location.reload()}>{texts.state.retry}</Button>
      </div>
    );
  }
}
