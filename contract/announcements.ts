import type { BreakingChange } from './breaking-change.ts';

/**
 * The paths that the changelog's section `Unreleased` announces as broken: the code spans of its list items that
 * start with `**Breaking:**`.
 */
export function announcedPaths(changelog: string): string[] {
  const unreleased = /^## Unreleased$([\s\S]*?)(?=^## )/m.exec(`${changelog}\n## `)?.[1] ?? '';
  const items = unreleased.split(/^(?=- |#)/m).filter((item) => item.startsWith('- **Breaking:**'));
  return items.flatMap((item) =>
    [...item.matchAll(/`([^`]+)`/g)].map(([, path]) => path!.replace(/\s+/g, ' ')),
  );
}

/**
 * Whether a breaking change is announced by its path, or by the path of something that it is a part of. A `*`
 * stands for any name, so that `Query.*` announces a change of every root field; what is gone must be named in full.
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
