import type { BreakingChange } from './breaking-change.ts';

/**
 * Returns the paths of the breaking changes that the changelog announces. They are the code spans in list items that
 * start with `**Breaking:**`, in the section `Unreleased`.
 */
export function announcedPaths(changelog: string): string[] {
  const unreleased = /^## Unreleased$([\s\S]*?)(?=^## )/m.exec(`${changelog}\n## `)?.[1] ?? '';
  const items = unreleased.split(/^(?=- |#)/m).filter((item) => item.startsWith('- **Breaking:**'));
  return items.flatMap((item) =>
    [...item.matchAll(/`([^`]+)`/g)].map(([, path]) => path!.replace(/\s+/g, ' ')),
  );
}

/**
 * Whether a breaking change is announced, by its own path or by the path of an object that contains it. In an
 * announcement, `*` stands for any name, so `Query.*` announces a change of every root field. A removal must be
 * announced with its full path.
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
