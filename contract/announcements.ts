import type { BreakingChange } from './breaking-change.ts';

/**
 * Returns the paths that the changelog's section `Unreleased` announces as broken. They are the code spans of list
 * items that start with `**Breaking:**`.
 */
export function announcedPaths(changelog: string): string[] {
  const unreleased = /^## Unreleased$([\s\S]*?)(?=^## )/m.exec(`${changelog}\n## `)?.[1] ?? '';
  const items = unreleased.split(/^(?=- |#)/m).filter((item) => item.startsWith('- **Breaking:**'));
  return items.flatMap((item) =>
    [...item.matchAll(/`([^`]+)`/g)].map(([, path]) => path!.replace(/\s+/g, ' ')),
  );
}

/**
 * Whether a breaking change is announced by its own path, or by the path of an object that contains it. A `*` stands
 * for any name, so `Query.*` announces a change of every root field. A removal must be announced by its full path.
 */
export function isAnnounced({ path, isRemoval }: BreakingChange, announced: string[]): boolean {
  return announced.some((pattern) => {
    if (isRemoval && pattern.includes('*')) return false;
    const expression = pattern
      .split('*')
      .map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
      .join('[^.]*');
    return new RegExp(`^${expression}(?=$|[ .[])`).test(path);
  });
}
