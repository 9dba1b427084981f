import { defineConfig } from "vitest/config";

// Tests resolve packages by the source condition, so they need no dist/.
// Files run one after another: many of them own real mounts, loops and namespaces.
export default defineConfig({
  resolve: { conditions: ["@drums/source"] },
  ssr: { resolve: { conditions: ["@drums/source", "node", "import", "default"] } },
  test: {
    include: ["packages/*/test/**/*.test.ts", "tools/test/**/*.test.ts"],
    // Those of the guest: tools/vm/test.sh runs them.
    exclude: ["**/node_modules/**", "**/*.vm.test.ts", "**/*.vm-systemd.test.ts"],
    fileParallelism: false,
    reporters: ["default", "./tools/testing/plain-reporter.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
