"""From kernels to machine code: their translation to LLVM's assembly language, compilation, linking to images, and loading.

`loader` is the entry. Where a compiled image fits, it imports neither LLVM nor the translation.
"""
