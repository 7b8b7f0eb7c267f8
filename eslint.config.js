import tseslint from 'typescript-eslint';

// The file .dependency-cruiser.js defines which files a source file may import.
export default tseslint.config(
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    ignores: [
      'dist',
      'bench/dist',
      'data',
      'prisma/generated',
      'rest/generated',
      'cli/generated',
      'pages/console/generated',
      'node_modules',
    ],
  },
  ...tseslint.configs.strict,
  {
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { varsIgnorePattern: '^_', argsIgnorePattern: '^_' }],
    },
  },
);
