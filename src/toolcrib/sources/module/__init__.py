"""Python modules as a source of tools: files beside an agent's definition, and installed packages.

Here: reading a module with the files beside it that it imports (`beside`), loading it from the bytes that were read
once (`loading`), making tools of what it exports (`exports`,
`objects`, `schema`), handing a function the sandbox it asks for (`sandbox`), and finding what installed packages offer
(`package`). Not here: which definition names which module, whose content is trusted, and what approval a call needs.
"""

from toolcrib.sources.module.beside import ModuleFile, ModuleProblem, read_module
from toolcrib.sources.module.exports import Offer, module_tools
from toolcrib.sources.module.package import package_tools, point_tools
from toolcrib.sources.module.sandbox import Sandbox

__all__ = [
    "ModuleFile",
    "ModuleProblem",
    "Offer",
    "Sandbox",
    "module_tools",
    "package_tools",
    "point_tools",
    "read_module",
]
