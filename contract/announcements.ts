import type { BreakingChange } from './breaking-change.ts';

/**
 * Returns the paths of the breaking changes that the changelog announces. The section `Unreleased` of the changelog
 * announces breaking changes in list items that start with `**Breaking:**`. Each code span in a list item that starts
 * with `**Breaking:**` is the path of a breaking change.
 */
export function announcedPaths(changelog: string): string[] {
  const unreleased = /^## Unreleased$([\s\S]*?)(?=^## )/m.exec(`${changelog}\n## `)?.[1] ?? '';
  const items = unreleased.split(/^(?=- |#)/m).filter((item) => item.startsWith('- **Breaking:**'));
  return items.flatMap((item) =>
    [...item.matchAll(/`([^`]+)`/g)].map(([, path]) => path!.replace(/\s+/g, ' ')),
  );
}

/**
 * Whether the changelog announces the given breaking change. To announce a change, the changelog contains the path of
 * the changed field or endpoint, or the path of an object that contains the field. In an announcement, `*` stands for
 * any name, so `Query.*` announces a change of every root field. The removal of a field or endpoint must be announced
 * with its full path, without `*`.
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
